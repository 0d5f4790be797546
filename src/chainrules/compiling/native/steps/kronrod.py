"""Kronrod's rule: integrals of a row of numbers over intervals, with QUADPACK's estimates.

The numbers are those that the step of a loop gives for a node, by the loop of :mod:`.stepping`.
"""

from collections.abc import Callable

from ..assembly.assembler import Module
from ..entry import make_callable
from ..kernel import code_of
from ..locks import made_once
from ..request import parameters
from .stepping import driver_text

EVALUATED_ARRAYS = 8  # of the driver's, before those of the rule
_EPS = "0x3CB0000000000000"  # 2**-52

# x8, x9: ends of the intervals. x10: node, weight of Kronrod and of Gauss, for each node. x11: how
# many intervals, nodes and numbers; and of an infinite range the sign of (1 - x) / x, whether both
# signs are meant, and 0 of a finite one. x12: the bound. x13: sums, errors, sums of absolute
# values. x14: room for three rows, and one for each node.
_RULE = """
define internal void @run({taken}) nounwind {{
entry:
%at.nodes = getelementptr i64, ptr %x11, i64 1
%at.width = getelementptr i64, ptr %x11, i64 2
%at.sign = getelementptr i64, ptr %x11, i64 3
%at.both = getelementptr i64, ptr %x11, i64 4
%intervals = load i64, ptr %x11
%nodes = load i64, ptr %at.nodes
%m = load i64, ptr %at.width
%sign.i = load i64, ptr %at.sign
%both.i = load i64, ptr %at.both
%sign = sitofp i64 %sign.i to double
%infinite = icmp ne i64 %sign.i, 0
%both = icmp ne i64 %both.i, 0
%bound = load double, ptr %x12
%at.why = getelementptr i64, ptr %x1, i64 6
%errors = getelementptr double, ptr %x13, i64 %m
%sizes = getelementptr double, ptr %errors, i64 %m
%gauss = getelementptr double, ptr %x14, i64 %m
%size = getelementptr double, ptr %gauss, i64 %m
%values = getelementptr double, ptr %size, i64 %m
%m3 = mul i64 %m, 3
br label %interval
interval:
%i = phi i64 [ 0, %entry ], [ %i.next, %interval.end ]
%more.i = icmp slt i64 %i, %intervals
br i1 %more.i, label %begin, label %done
begin:
%at.a = getelementptr double, ptr %x8, i64 %i
%at.b = getelementptr double, ptr %x9, i64 %i
%a = load double, ptr %at.a
%b = load double, ptr %at.b
%length = fsub double %b, %a
%half = fmul double %length, 5.0e-1
%whole = fadd double %a, %b
%center = fmul double %whole, 5.0e-1
%h = call double @llvm.fabs.f64(double %half)
br label %clear
clear:
%z = phi i64 [ 0, %begin ], [ %z.next, %clear ]
%at.z = getelementptr double, ptr %x14, i64 %z
store double 0.0, ptr %at.z
%z.next = add i64 %z, 1
%more.z = icmp slt i64 %z.next, %m3
br i1 %more.z, label %clear, label %node
node:
%j = phi i64 [ 0, %clear ], [ %j.next, %node.end ]
%more.j = icmp slt i64 %j, %nodes
br i1 %more.j, label %place, label %estimate
place:
%j3 = mul i64 %j, 3
%at.node = getelementptr double, ptr %x10, i64 %j3
%at.wk = getelementptr double, ptr %at.node, i64 1
%at.wg = getelementptr double, ptr %at.node, i64 2
%xi = load double, ptr %at.node
%wk = load double, ptr %at.wk
%wg = load double, ptr %at.wg
%shift = fmul double %half, %xi
%x = fadd double %center, %shift
%jm = mul i64 %j, %m
%row = getelementptr double, ptr %values, i64 %jm
%rest = fsub double 1.0, %x
%away = fdiv double %rest, %x
%signed = fmul double %sign, %away
%far = fadd double %bound, %signed
%xx = fmul double %x, %x
%inverse = fdiv double 1.0, %xx
%t = select i1 %infinite, double %far, double %x
%factor = select i1 %infinite, double %inverse, double 1.0
br label %evaluate
evaluate:
%second = phi i1 [ false, %place ], [ true, %other ]
%minus = fneg double %t
%here = select i1 %second, double %minus, double %t
store double %here, ptr %x5
store i64 0, ptr %x1
call void @steps({given})
%why = load i64, ptr %at.why
%fits = icmp eq i64 %why, 0
br i1 %fits, label %take, label %done
take:
%k = phi i64 [ 0, %evaluate ], [ %k.next, %take ]
%at.y = getelementptr double, ptr %x6, i64 %k
%at.v = getelementptr double, ptr %row, i64 %k
%y = load double, ptr %at.y
%y.scaled = fmul double %y, %factor
%v.old = load double, ptr %at.v
%v.before = select i1 %second, double %v.old, double 0.0
%v = fadd double %v.before, %y.scaled
store double %v, ptr %at.v
%k.next = add i64 %k, 1
%more.k = icmp slt i64 %k.next, %m
br i1 %more.k, label %take, label %taken
taken:
%last = select i1 %both, i1 %second, i1 true
br i1 %last, label %add, label %other
other:
br label %evaluate
add:
%n = phi i64 [ 0, %taken ], [ %n.next, %add ]
%at.vn = getelementptr double, ptr %row, i64 %n
%vn = load double, ptr %at.vn
%at.kn = getelementptr double, ptr %x14, i64 %n
%at.gn = getelementptr double, ptr %gauss, i64 %n
%at.sn = getelementptr double, ptr %size, i64 %n
%kn = load double, ptr %at.kn
%gn = load double, ptr %at.gn
%sn = load double, ptr %at.sn
%vk = fmul double %vn, %wk
%vg = fmul double %vn, %wg
%va = call double @llvm.fabs.f64(double %vk)
%kn.next = fadd double %kn, %vk
%gn.next = fadd double %gn, %vg
%sn.next = fadd double %sn, %va
store double %kn.next, ptr %at.kn
store double %gn.next, ptr %at.gn
store double %sn.next, ptr %at.sn
%n.next = add i64 %n, 1
%more.n = icmp slt i64 %n.next, %m
br i1 %more.n, label %add, label %node.end
node.end:
%j.next = add i64 %j, 1
br label %node
estimate:
%e = phi i64 [ 0, %node ], [ %e.next, %spread.end ]
%at.ke = getelementptr double, ptr %x14, i64 %e
%at.ge = getelementptr double, ptr %gauss, i64 %e
%at.se = getelementptr double, ptr %size, i64 %e
%ke = load double, ptr %at.ke
%ge = load double, ptr %at.ge
%se = load double, ptr %at.se
%mean = fmul double %ke, 5.0e-1
br label %spread
spread:
%l = phi i64 [ 0, %estimate ], [ %l.next, %spread ]
%asc = phi double [ 0.0, %estimate ], [ %asc.next, %spread ]
%l3 = mul i64 %l, 3
%l3.w = add i64 %l3, 1
%at.wl = getelementptr double, ptr %x10, i64 %l3.w
%wl = load double, ptr %at.wl
%lm = mul i64 %l, %m
%le = add i64 %lm, %e
%at.vl = getelementptr double, ptr %values, i64 %le
%vl = load double, ptr %at.vl
%off.mean = fsub double %vl, %mean
%off.abs = call double @llvm.fabs.f64(double %off.mean)
%off.weighed = fmul double %off.abs, %wl
%asc.next = fadd double %asc, %off.weighed
%l.next = add i64 %l, 1
%more.l = icmp slt i64 %l.next, %nodes
br i1 %more.l, label %spread, label %spread.end
spread.end:
%apart = fsub double %ke, %ge
%apart.abs = call double @llvm.fabs.f64(double %apart)
%off = fmul double %h, %apart.abs
%wide = fmul double %h, %asc.next
%off.200 = fmul double %off, 2.0e+2
%u = fdiv double %off.200, %wide
%root = call double @llvm.sqrt.f64(double %u)
%u15 = fmul double %u, %root
%small = fcmp olt double %u15, 1.0
%share = select i1 %small, double %u15, double 1.0
%scaled = fmul double %wide, %share
%is.wide = fcmp une double %wide, 0.0
%is.off = fcmp une double %off, 0.0
%scales = and i1 %is.wide, %is.off
%estimated = select i1 %scales, double %scaled, double %off
%absolute = fmul double %h, %se
%fifty = fmul double {eps}, 5.0e+1
%rounding = fmul double %absolute, %fifty
%rounds = fcmp ogt double %rounding, %estimated
%error = select i1 %rounds, double %rounding, double %estimated
%sum = fmul double %half, %ke
%at.sum = getelementptr double, ptr %x13, i64 %e
%at.error = getelementptr double, ptr %errors, i64 %e
%at.size = getelementptr double, ptr %sizes, i64 %e
%sum.old = load double, ptr %at.sum
%error.old = load double, ptr %at.error
%size.old = load double, ptr %at.size
%sum.new = fadd double %sum.old, %sum
%error.new = fadd double %error.old, %error
%size.new = fadd double %size.old, %absolute
store double %sum.new, ptr %at.sum
store double %error.new, ptr %at.error
store double %size.new, ptr %at.size
%e.next = add i64 %e, 1
%more.e = icmp slt i64 %e.next, %m
br i1 %more.e, label %estimate, label %interval.end
interval.end:
%i.next = add i64 %i, 1
br label %interval
done:
ret void
}}
"""


@made_once
def rule_sums() -> Callable[..., None]:
    """Return the native rule, of the driver's arrays, and those that stand above the text.

    It ends at a node that no body fits, as the driver does.
    """
    kinds = ["array"] * 15
    module = Module()
    for name in ("fabs", "sqrt"):
        module.declarations[f"declare double @llvm.{name}.f64(double)"] = None
    module.functions["@steps"] = driver_text("@steps")
    given = ", ".join(f"ptr %x{k}" for k in range(EVALUATED_ARRAYS))
    module.functions["@run"] = _RULE.format(taken=parameters(kinds), given=given, eps=_EPS)
    return make_callable(code_of(module, kinds))
