/** What the server says of itself. */

/** Three numbers joined by dots; clients compare them, and the suffix enables paid features. */
export const apiLevel = '18.5.0-ee';
