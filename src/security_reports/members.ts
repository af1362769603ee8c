/** Reading JSON whose shape is not known. */

/** A member of an object; undefined for anything else. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** A text as the database takes it, without its end if it is too long; null for anything else, and for an empty one. */
export const textIn = (value: unknown, longest: number): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, longest).replaceAll('\0', '').toWellFormed() : null;
