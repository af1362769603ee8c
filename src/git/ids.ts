/** Object ids, the only names under which an answer may be kept: any other name can mean something else tomorrow. */

/** Whether a text is a full object id in lower case. */
export const isFullId = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** Gives the id back. Throws `TypeError` when it is not a full object id in lower case. */
export function fullId(id: string): string {
  if (!isFullId(id)) throw new TypeError(`not a full object id: ${id.slice(0, 100)}`);
  return id;
}
