// Texts of strangers. All that the scripts draw goes through here.
// A character that a browser would obey, such as a bidi control, is shown by its number, as the server's pages show it.
const OBEYED = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const numbered = (one) => { const code = one.codePointAt(0); return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`; };
const clean = (text) => String(text).replace(OBEYED, numbered);
