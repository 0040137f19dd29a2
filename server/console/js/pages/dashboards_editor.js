// TEMP
export function Editor() { return null; }
