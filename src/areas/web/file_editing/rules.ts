/** Texts and names of files that are written in a browser. */

/** Browsers send line breaks as CR LF, whatever was in the field. @param before the text of the file so far */
export function withLineEndsOf(before: string | undefined, sent: string): string {
  const text = sent.replaceAll('\r\n', '\n');
  return before !== undefined && /^[^\n]*\r\n/.test(before) ? text.replaceAll('\n', '\r\n') : text;
}

/** The name of a new branch that is offered: the first number that is free. @param taken names of branches */
export function freeBranch(username: string, taken: readonly string[]): string {
  const known = new Set(taken);
  let number = 1;
  while (known.has(`${username}-patch-${number}`)) number += 1;
  return `${username}-patch-${number}`;
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The path of something in a folder; of the root, the path is empty. */
export const pathIn = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);
