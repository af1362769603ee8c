/** Paths that git refuses to check out, or that are harmful when checked out. */

/** Characters that HFS+ ignores in names, so that `.g\u200cit` is `.git` there. */
const ignored_by_hfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const maximumPath_bytes = 4096;
const deepest = 1000;

/** The reason why a path is refused, undefined when it is valid. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.includes('\0')) return 'contains a null byte';
  if (!path.isWellFormed()) return 'is not valid Unicode';
  if (path.startsWith('/')) return 'starts with a slash';
  if (path.endsWith('/')) return 'ends with a slash';
  if (Buffer.byteLength(path) > maximumPath_bytes) return `is longer than ${maximumPath_bytes} bytes`;
  const names = path.split('/');
  if (names.length > deepest) return `is nested deeper than ${deepest} folders`;
  if (names.includes('')) return 'contains an empty component';
  if (names.includes('.') || names.includes('..')) return 'contains a relative component';
  // On Windows a backslash separates folders too, so `.git\config` would be git's configuration.
  if (names.some((name) => name.split('\\').some(isGitFolder))) return 'contains a .git folder';
  if (names.some((name) => name.split('\\').includes('..'))) return 'contains a relative component';
  return undefined;
}

/** `.git` as any of the common file systems reads it: Windows drops trailing dots, spaces and streams, and `git~1` is its short name. */
function isGitFolder(name: string): boolean {
  const on_hfs = name.replace(ignored_by_hfs, '').toLowerCase();
  const on_ntfs = name
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return on_hfs === '.git' || on_ntfs === '.git' || on_ntfs === 'git~1';
}
