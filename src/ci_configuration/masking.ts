/** Keeps values of masked variables out of texts. */

/**
 * A function that replaces each of the values with `[MASKED]`. Of values that contain each other, the longest is replaced.
 * @param values of masked variables
 */
export function masking(values: readonly string[]): (text: string) => string {
  const longestFirst = [...new Set(values)].filter((value) => value !== '').sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((shown, value) => shown.replaceAll(value, '[MASKED]'), text);
}
