/** The refusals of repositories that apply to pushes and to endpoints that move a branch or a tag (docs/reference/repository.md). */

import { levels, type Project, projectIsBeingFilled } from '../../../access/index.ts';
import type { RefUpdate } from '../../../git/index.ts';
import { ApiError, badParams } from '../../../http/index.ts';
import { mapInSlices } from '../../../markdown/index.ts';
import type { TagProtection } from '../protected_tags/queries.ts';

/** A name that git could interpret as a commit id. */
const likeAnId = /^[0-9a-f]{40}/i;

const idLikeName = 'You cannot create a branch with a 40-character hexadecimal branch name.';

/** The refusals for a file that exists already or is missing. */
export const fileExists = 'A file with this name already exists';
export const missingFile = "A file with this name doesn't exist";

/** A refusal to a git client, which prints the text. */
export const refusal = (status: number, text: string): ApiError => new ApiError(status, { message: text });

export const uploadRefused = 'You are not allowed to upload code.';

/** The refusal of a push to a project whose content cannot be changed. */
export function readOnlyRefusal({ archived, being_copied }: Pick<Project, 'archived' | 'being_copied'>): string {
  if (being_copied) return projectIsBeingFilled;
  return archived ? "You can't push code to an archived project." : "You can't push code to a read-only project.";
}

/** The names of moved branches, without deleted ones. */
export const pushedBranches = (moved: readonly RefUpdate[]): string[] =>
  movedBranches(moved.filter((update) => update.new !== null));

const branch = /^refs\/heads\/(.+)$/s;

/** The names of moved branches. */
export const movedBranches = (moved: readonly RefUpdate[]): string[] =>
  moved.flatMap(({ ref }) => branch.exec(ref)?.[1] ?? []);

/** The refusal of a push with an invalid file mode. */
export const oddModeRefusal = ({ tree, mode }: { tree: string; mode: string }): string =>
  `The tree ${tree} has an entry with the file mode ${mode}. Modes can be 100644, 100664, 100755, 120000, 40000 and 160000.`;

/** The reasons for refusing a move of a branch, regardless of its protection. */
export function branchRefusals(project: Pick<Project, 'default_branch'>, update: RefUpdate): string[] {
  const name = update.ref.slice('refs/heads/'.length);
  if (update.new === null && name === project.default_branch)
    return ['The default branch of a project cannot be deleted.'];
  if (update.old === null && likeAnId.test(name)) return [idLikeName];
  return [];
}

/**
 * The reasons for refusing a move of a tag.
 * @param how.isPush whether a git client moves it
 */
export function tagRefusals(
  { access_level }: Pick<Project, 'access_level'>,
  update: RefUpdate,
  { protection, isPush }: { protection: TagProtection; isPush: boolean },
): string[] {
  const { is_protected, may_create } = protection;
  const isMaintainer = access_level >= levels.maintainer;
  if (update.old !== null && update.new !== null) {
    if (!isMaintainer) return ['You are not allowed to change existing tags on this project.'];
    return is_protected ? ['Protected tags cannot be updated.'] : [];
  }
  if (update.new !== null) return may_create ? [] : ['You are not allowed to create this tag as it is protected.'];
  if (!is_protected) return [];
  if (!isMaintainer)
    return [
      'You are not allowed to delete protected tags from this project. Only a project maintainer or owner can delete a protected tag.',
    ];
  return isPush ? ['You can only delete protected tags using the web interface.'] : [];
}

/**
 * Whether a name matches a search: anywhere, at its start with `^` or at its end with `$`; ignoring case.
 */
export function matchesSearch(name: string, search: string): boolean {
  const text = name.toLowerCase();
  const [fromStart, toEnd] = [search.startsWith('^'), search.endsWith('$')];
  const wanted = search.slice(fromStart ? 1 : 0, toEnd ? -1 : undefined).toLowerCase();
  if (fromStart && toEnd) return text === wanted;
  if (fromStart) return text.startsWith(wanted);
  return toEnd ? text.endsWith(wanted) : text.includes(wanted);
}

/** A path without surrounding slashes, as in git. The lookbehind prevents that slashes in the middle are tried one by one, each to the end. */
export const trimmedPath = (path: string): string => path.replace(/^\/+|(?<!\/)\/+$/g, '');

/**
 * The bytes of a file in a parameter.
 * @param name the name of the parameter, for error messages
 * @throws ApiError 400 for characters that are not Base64; line breaks are ignored, because several clients wrap it
 */
export async function contentIn(name: string, text: string | Uint8Array, encoding: 'text' | 'base64'): Promise<Buffer> {
  const sent = typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.length);
  return encoding === 'text' ? sent : fromBase64(name, sent);
}

/** A piece takes about a millisecond. */
const piece_bytes = 1024 * 1024;

async function fromBase64(name: string, sent: Buffer): Promise<Buffer> {
  const count = Math.ceil(sent.length / piece_bytes);
  const pieces = Array.from({ length: count }, (_, index) =>
    sent.subarray(index * piece_bytes, (index + 1) * piece_bytes),
  );
  const groupsOf = base64Reader(name, count);
  // Decoded into its final buffer, because joining the pieces would copy all of them in one turn of the event loop.
  const content = Buffer.allocUnsafe(Math.ceil((sent.length * 3) / 4));
  let end = 0;
  await mapInSlices(pieces, (piece, index) => {
    end += content.write(groupsOf(piece.toString('latin1'), index), end, 'base64');
  });
  return content.subarray(0, end);
}

/** Validates the pieces of a Base64 text in order, and regroups them so that each can be decoded alone. */
function base64Reader(name: string, count: number): (piece: string, index: number) => string {
  // Only one position allows a line break, so that matching never backtracks.
  let [rest, allowed] = ['', /^[A-Za-z0-9+/\r\n]*(?:=[=\r\n]*)?$/];
  return (piece, index) => {
    if (!allowed.test(piece)) throw badParams(`${name} is not valid Base64`);
    if (piece.includes('=')) allowed = /^[=\r\n]*$/;
    const text = rest + piece.replaceAll(/[\r\n]/g, '');
    // Four characters encode three bytes. Remaining characters begin the next piece.
    const isLast = index === count - 1;
    // A single remaining character is less than a byte: the text is truncated.
    if (isLast && text.replace(/=+$/, '').length % 4 === 1) throw badParams(`${name} is not valid Base64`);
    const end = isLast ? text.length : text.length - (text.length % 4);
    rest = text.slice(end);
    return text.slice(0, end);
  };
}
