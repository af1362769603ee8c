/** Scoped labels: an item has at most one label of each key (`key::value`). */

/**
 * The key of a scoped label.
 * @param title if it has several `::`, the last one separates key and value
 * @returns undefined for a label without a scope
 */
export function scopeOf(title: string): string | undefined {
  const at = title.lastIndexOf('::');
  return at > 0 && at + 2 < title.length ? title.slice(0, at) : undefined;
}

/**
 * Keeps only the last label of each scope. Premium; on the free plan all of them remain.
 * @param labels in the order in which they were set, existing ones first
 */
export function withoutRivals<L extends { title: string }>(labels: readonly L[]): L[] {
  const winners = new Map(labels.map((label) => [scopeOf(label.title), label]));
  return labels.filter((label) => {
    const scope = scopeOf(label.title);
    return scope === undefined || winners.get(scope) === label;
  });
}

const maximumTitle = 255;

/**
 * Reasons against the title of a label.
 * @param title trimmed
 */
export function titleReasons(title: string): string[] {
  if (title === '') return ["can't be blank"];
  if (title.includes(',')) return ['is invalid'];
  return title.length > maximumTitle ? [`is too long (maximum is ${maximumTitle} characters)`] : [];
}

const maximumDescription = 512 * 1024;

/** Reasons against the description of a label. */
export const descriptionReasons = (description: string): string[] =>
  description.length > maximumDescription ? [`is too long (maximum is ${maximumDescription} characters)`] : [];
