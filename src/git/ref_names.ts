/** Rules for the names of branches and tags: those of `git check-ref-format`, without a process, and two of v4. */

/** Spaces, control characters, and the special characters of revision expressions and patterns. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a name must not contain them.
const forbidden = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$|^\//;

/** A ref is a file of that name, with a lock file beside it whose name ends in `.lock`: file systems allow 255 bytes. */
const maximumPart_bytes = 250;
const maximumName_bytes = 1024;

const isShort = (name: string): boolean =>
  Buffer.byteLength(name) <= maximumName_bytes &&
  name.split('/').every((part) => Buffer.byteLength(part) <= maximumPart_bytes);

/** git would find a branch named `refs/heads/x` when it looks for a missing branch `x`; v4 refuses such names too. */
const spelled_out = /^refs\/(?:heads|tags|remotes)\//;

/** Whether git accepts `refs/heads/<name>` and `refs/tags/<name>`. */
export const isValidRefName = (name: string): boolean =>
  name !== '' &&
  name.isWellFormed() &&
  !forbidden.test(name) &&
  name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));

/** Whether a branch may have this name: one that `git check-ref-format --branch` accepts and that is not a full ref name. */
export const isValidBranchName = (name: string): boolean => isValidTagName(name);

/** Whether a ref is a branch or a tag, and not another ref, such as a ref of notes. */
export const isBranchOrTag = (ref: string): boolean => /^refs\/(?:heads|tags)\//.test(ref);

/** Whether a tag may have this name: one that git accepts, that fits a file system, and that is neither an option, nor `HEAD`, nor a full ref name. */
export const isValidTagName = (name: string): boolean =>
  isValidRefName(name) && isShort(name) && !name.startsWith('-') && name !== 'HEAD' && !spelled_out.test(name);
