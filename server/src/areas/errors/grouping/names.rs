//! Removes from names of functions, modules and types what compilers, proxies and runtimes generate
//! anew for each build or process.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::replaced::Replacements;

/// Patterns and their replacements. Part of version 2 of the rules.
const PATTERNS: [(&str, &str); 24] = [
    // Proxies of Spring, Guice, Javassist, Byte Buddy, Hibernate and Mockito become the class that
    // they wrap.
    (r"\$\$(?:EnhancerBy|FastClassBy)\w+\$\$[0-9A-Za-z]+", ""),
    (r"\$\$SpringCGLIB(?:\$\$FastClass)?(?:\$\$[0-9]+)?", ""),
    (r"_\$\$_(?:jvst|javassist)\w*", ""),
    (r"\$(?:ByteBuddy|HibernateProxy|MockitoMock|auxiliary)\$\w+", ""),
    // Proxies of the JDK, and the accessors that it generates for methods that are often called by
    // reflection.
    (r"\bjdk\.proxy[0-9]+", "jdk.proxy"),
    (r"\$Proxy[0-9]+", "$Proxy"),
    (
        r"\bGenerated(?:Method|Constructor|SerializationConstructor)Accessor[0-9]+",
        "GeneratedAccessor",
    ),
    // Lambdas and anonymous classes of the JVM.
    (r"\$\$Lambda(?:[$/.](?:0x[0-9A-Fa-f]+|[0-9]+))*", "$$Lambda"),
    (r"\$lambda-[0-9]+", "$lambda"),
    (r"\$[0-9]+", "$"),
    // Symbols of Rust.
    (r"::h[0-9a-f]{16}\b", ""),
    (r"\b17h[0-9a-f]{16}E", "17hE"),
    // Closures of Rust, PHP, C++ and Swift.
    (r"\{+closure(?:[:#][^{}]*)?\}+(?:#[0-9]+)?", "{closure}"),
    (r"@anonymous\x00?[^:]*(?::[0-9]+)?(?:\$[0-9a-f]+)?", "@anonymous"),
    (r"#[0-9]+", "#"),
    // What the C# compiler generates for lambdas, local functions and async methods.
    (r">[a-z]__[0-9]+(?:_[0-9]+)*", ">__"),
    (r"\|[0-9]+_[0-9]+", ""),
    (r"DisplayClass[0-9]+(?:_[0-9]+)*", "DisplayClass"),
    (r"\blambda_method[0-9]+", "lambda_method"),
    // Blocks of Ruby, and methods compiled from templates.
    (r"\bblock \([0-9]+ levels\) in ", "block in "),
    (r"_{2,}[0-9]+_[0-9]+", "__"),
    // What JavaScript engines add to the name.
    (r" \[as [^\]]*\]|^async |/<", ""),
    // Functions numbered by Clojure.
    (r"__[0-9]+\b", "__"),
    // Memory addresses.
    (r"\b0x[0-9A-Fa-f]{4,}", "0x"),
];

static REPLACEMENTS: LazyLock<Replacements> = LazyLock::new(|| Replacements::new(&PATTERNS));

/// Returns the name without generated parts.
pub(super) fn stable(name: &str) -> Cow<'_, str> {
    REPLACEMENTS.replace(name, |replacement, _, out| out.push_str(replacement))
}

/// Returns the name of a function without generated parts; empty for an anonymous function.
pub(super) fn function(name: &str, is_go: bool) -> Cow<'_, str> {
    const NAMELESS: [&str; 9] = [
        "?",
        "<anonymous>",
        "anonymous",
        "(anonymous)",
        "<unknown>",
        "<lambda>",
        "<module>",
        "<main>",
        "Object.<anonymous>",
    ];
    const MADE_UP: [&str; 3] = ["lambda", "anonymous", "closure"];
    let name = name.trim();
    if NAMELESS.contains(&name) {
        return Cow::Borrowed("");
    }
    let stable = stable(name);
    if is_go {
        return Cow::Owned(without_closures(&stable));
    }
    if MADE_UP.iter().any(|word| stable.contains(word)) {
        return Cow::Owned(stable.chars().filter(|c| !c.is_ascii_digit()).collect());
    }
    stable
}

/// Removes the numbers of closures from the name of a Go function: `main.load.func1.2` becomes
/// `main.load.func`.
fn without_closures(name: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in name.split('.') {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let made_up = ["func", "gowrap", "deferwrap"];
        let closure = made_up.iter().find(|word| part.strip_prefix(**word).is_some_and(digits));
        match closure {
            Some(word) => kept.push(word),
            None if digits(part) && kept.last().is_some_and(|last| made_up.contains(last)) => {}
            None => kept.push(part),
        }
    }
    kept.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_parts_are_removed_from_names() {
        for (name, expected) in [
            ("com.shop.Foo$$EnhancerBySpringCGLIB$$1a2b3c", "com.shop.Foo"),
            ("Foo$$EnhancerBySpringCGLIB$$1a2b3c$$FastClassBySpringCGLIB$$9f", "Foo"),
            ("Foo$$SpringCGLIB$$0", "Foo"),
            ("Foo$$SpringCGLIB$$FastClass$$1", "Foo"),
            ("User_$$_jvst5a2_0", "User"),
            ("User$HibernateProxy$Xy12", "User"),
            ("com.sun.proxy.$Proxy12", "com.sun.proxy.$Proxy"),
            ("jdk.proxy2.$Proxy99", "jdk.proxy.$Proxy"),
            (
                "jdk.internal.reflect.GeneratedMethodAccessor123",
                "jdk.internal.reflect.GeneratedAccessor",
            ),
            ("Main$$Lambda$14/0x0000000800c3", "Main$$Lambda"),
            ("Main$$Lambda/0x00007f.accept", "Main$$Lambda.accept"),
            ("lambda$main$0", "lambda$main$"),
            ("Outer$1", "Outer$"),
            ("app::load::h0123456789abcdef", "app::load"),
            ("app::run::{{closure}}", "app::run::{closure}"),
            ("app::run::{closure#1}", "app::run::{closure}"),
            ("{closure:/srv/app/src/Cart.php:12}", "{closure}"),
            ("Shop.Cart.<Add>b__0_1", "Shop.Cart.<Add>__"),
            ("Shop.Cart.<Add>d__5", "Shop.Cart.<Add>__"),
            ("Shop.<Add>g__Sum|0_1", "Shop.<Add>g__Sum"),
            ("Shop.<>c__DisplayClass3_0", "Shop.<>c__DisplayClass"),
            ("block (2 levels) in charge", "block in charge"),
            ("_app_views_cart_show_html_erb___123456_789", "_app_views_cart_show_html_erb__"),
            ("Cart.add [as handler]", "Cart.add"),
            ("async load", "load"),
            ("step2", "step2"),
            ("Foo#bar", "Foo#bar"),
        ] {
            assert_eq!(stable(name), expected, "{name}");
        }
    }

    #[test]
    fn anonymous_functions_have_an_empty_name() {
        for (name, is_go, expected) in [
            ("<lambda>", false, ""),
            (" handle ", false, "handle"),
            ("lambda_handler", false, "lambda_handler"),
            ("func1", false, "func1"),
            ("main.load.func1", true, "main.load.func"),
            ("main.load.func1.2", true, "main.load.func"),
            ("main.(*Server).serve.func3.gowrap1", true, "main.(*Server).serve.func.gowrap"),
            ("main.function1", true, "main.function1"),
        ] {
            assert_eq!(function(name, is_go), expected, "{name}");
        }
    }
}
