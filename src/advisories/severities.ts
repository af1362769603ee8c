/** How severe a vulnerability is. */

/** From the least severe; `unknown` is before all. */
export const severities = ['unknown', 'info', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** The severity that a database states in words. */
export function ofWord(word: string): Severity | undefined {
  const lower = word.toLowerCase();
  if (lower === 'moderate') return 'medium';
  if (lower === 'important') return 'high';
  return severities.find((severity) => severity !== 'unknown' && severity === lower);
}

/** The most severe of several; unknown when there is none. */
export const mostSevere = (all: readonly (Severity | undefined)[]): Severity =>
  severities[Math.max(0, ...all.map((severity) => (severity === undefined ? 0 : severities.indexOf(severity))))]!;
