/** Names of branches and tags: the rules of `git check-ref-format`, without a process, and two of v4. */

/** Blanks, control characters, and what revision expressions and patterns are made of. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a name must not hold.
const forbidden = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$|^\//;

/** A reference is a file with its name while it moves, and a lock beside it whose name is longer by `.lock`: 255 bytes are what file systems allow. */
const longest_part_bytes = 250;
const longest_name_bytes = 1024;

const isShort = (name: string): boolean =>
  Buffer.byteLength(name) <= longest_name_bytes && name.split('/').every((part) => Buffer.byteLength(part) <= longest_part_bytes);

/** A branch `refs/heads/x` would answer when git is asked for the branch `x` and there is none; v4 refuses such names as well. */
const spelled_out = /^refs\/(?:heads|tags|remotes)\//;

/** Whether git accepts `refs/heads/<name>` and `refs/tags/<name>`. */
export const isValidRefName = (name: string): boolean =>
  name !== '' &&
  name.isWellFormed() &&
  !forbidden.test(name) &&
  name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));

/** Whether a branch may have this name: as `git check-ref-format --branch` decides, and not a name that spells out a ref. */
export const isValidBranchName = (name: string): boolean => isValidTagName(name) && name !== 'HEAD';

/** Whether a tag may have this name: one that git accepts, that file systems can hold, that is no option, and that does not spell out a ref. */
export const isValidTagName = (name: string): boolean =>
  isValidRefName(name) && isShort(name) && !name.startsWith('-') && !spelled_out.test(name);
