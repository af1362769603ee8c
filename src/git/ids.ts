/** Object ids, the only keys of caches: any other name may refer to another object later. */

/** Whether a text is a full object id in lower case. */
export const isFullId = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** Returns the id. Throws `TypeError` when it is not a full object id in lower case. */
export function fullId(id: string): string {
  if (!isFullId(id)) throw new TypeError(`not a full object id: ${id.slice(0, 100)}`);
  return id;
}
