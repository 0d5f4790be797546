"""Public names in groups, and public modules, as the reference lists them.

The site does not build where a name is missing.
"""

GROUPS: dict[str, tuple[str, ...]] = {
    "Derivatives": (
        "grad", "value_and_grad", "jvp", "vjp", "linearize", "jacobian", "jacfwd", "jacrev",
        "hessian", "hvp", "sparsity", "wirtinger", "matrix_function", "flatten",
        "Pushforward", "Pullback",
    ),
    "Constants and plain values": (
        "stop_gradient", "ignore_derivatives", "value", "is_traced", "array",
    ),
    "Existing code, and solvers": ("adopt", "Adoption", "ad", "implicit", "fixed_point"),
    "Compiling and batching": ("compile", "vmap"),
    "Functions that call functions": (
        "map", "reduce", "accumulate", "scan", "loop", "while_loop", "checkpoint",
    ),
    "Inspection": ("explain", "cost", "debug", "which"),
    "Writing rules": (
        "primitive", "scalar_rule", "linear_rule", "bilinear_rule", "reduction_rule", "composed",
        "non_differentiable", "not_implemented", "frule", "rrule", "batch_rule", "opt_out",
        "instances", "derivatives_given_output", "register_container",
    ),
    "Tangents": (
        "Tangent", "ZeroTangent", "NoTangent", "zero_tangent", "ProjectTo", "thunk", "unthunk",
        "InplaceableThunk", "unstack",
    ),
    "Calling back into an engine": (
        "frule_via_ad", "rrule_via_ad", "batch_via_ad", "RuleConfig", "ForwardConfig",
        "ReverseConfig", "HasForwardsMode", "NoForwardsMode", "HasReverseMode", "NoReverseMode",
        "HasBatchMode", "FollowsPython", "StrongZeros", "AsksForBlocks", "AllOf",
    ),
    "Errors": (
        "ChainRulesError", "MissingRuleError", "LostDerivativeError", "MutationError",
        "EscapedTraceError", "TangentError", "RuleError", "MissingDerivativeError",
        "InaccurateDerivativeError", "SingularJacobianError", "CompileError", "BatchError",
        "LostDataError", "ArgumentTypeError", "ArgumentValueError", "ContainerError",
        "ExchangeError", "NoSolutionError", "MissingPackageError", "UnknownNameError",
    ),
    "Warnings": (
        "ConvergenceWarning", "IndependentOutputWarning", "RuleNeverAskedWarning",
        "RuleReplacedWarning", "RulesNotLoadedWarning", "CompileWarning", "BatchWarning",
        "EntrywiseWarning",
    ),
}  # fmt: skip

TESTING: dict[str, tuple[str, ...]] = {
    "Tests": ("test_rrule", "test_frule", "test_scalar", "check_grad", "Report"),
    "Tangents for a test": ("primal_with_tangent", "rand_tangent"),
    "Finite differences": (
        "central_fdm", "forward_fdm", "backward_fdm", "FiniteDifference", "Estimate",
    ),
    "To compare": ("assert_tangents_close", "to_vec"),
    "What a test may find": (
        "RuleTestError", "NoRuleError", "WrongValueError", "WrongStructureError",
        "WrongDerivativeError", "MutatedArgumentError", "UndecidedError",
    ),
}  # fmt: skip

# Modules that are used by their own names, and what each has besides those of the library it shows.
MODULES: dict[str, tuple[str, ...]] = {
    "chainrules.errors": (),
    "chainrules.traits": (),
    "chainrules.numpy": (),
    "chainrules.math": (),
    "chainrules.cmath": (),
    "chainrules.scipy": (),
    "chainrules.scipy.integrate": (),
    "chainrules.scipy.optimize": (),
    "chainrules.interop.jax": ("export", "import_"),
    "chainrules.interop.torch": ("export", "import_"),
    "chainrules.interop.pytensor": ("export",),
    "chainrules.interop.casadi": ("export",),
    "chainrules.interop.autograd": ("export", "adopt", "adopt_module"),
    "chainrules.interop": ("Foreign",),
}
