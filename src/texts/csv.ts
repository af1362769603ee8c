/** Files of comma-separated values (RFC 4180). */

/** A cell. A spreadsheet would execute one that begins like a formula. */
function cell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** A line with its end. Texts that a spreadsheet would take for a formula begin with an apostrophe. */
export const csvLine = (texts: readonly string[]): string => `${texts.map(cell).join(',')}\r\n`;
