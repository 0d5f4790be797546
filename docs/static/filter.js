// A field above the table of functions: rows that have all of its words stay.
document.addEventListener("DOMContentLoaded", () => {
    const page = document.querySelector("section#what-has-derivatives");
    if (!page) return;
    const parts = [...page.querySelectorAll("section")].map(section => ({
        section,
        rows: [...section.querySelectorAll("tbody tr")].map(row => ({
            row,
            text: `${section.querySelector("h2").firstChild.data}.${row.innerText}`.toLowerCase(),
        })),
    }));
    const field = document.createElement("input");
    field.type = "search";
    field.id = "filter";
    field.className = "form-control my-3";
    field.placeholder = "Filter the functions, for example: linalg refused";
    field.setAttribute("aria-label", "Filter the functions");
    page.querySelector("h1").after(field);
    field.addEventListener("input", () => {
        const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        for (const {section, rows} of parts) {
            let shown = 0;
            for (const {row, text} of rows) {
                row.hidden = !words.every(word => text.includes(word));
                shown += !row.hidden;
            }
            section.hidden = shown == 0;
        }
    });
});
