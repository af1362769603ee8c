/** Rewrites the references in a text of another server to the imported records. */
import { shortenedName } from '../../../../http/index.ts';
import {
  type Address,
  inSlices,
  type Reference,
  readText,
  type Steps,
  storedName,
} from '../../../../markdown/index.ts';

/** The mappings available when a text is imported. Paths and usernames of the source are in lower case. */
export interface Moved {
  /** The address of the source, without a slash at the end; likewise ours below. */
  source_url: string;
  url: string;
  /** The full path, at the source, of the text's project or group. */
  place: string;
  /** The full paths of groups and projects here, by their paths at the source. */
  paths: ReadonlyMap<string, string>;
  /** The same for groups whose contents have not been listed yet. */
  groups: ReadonlyMap<string, string>;
  /** The ids of projects and groups here, by their ids at the source. */
  project_ids: ReadonlyMap<number, number>;
  group_ids: ReadonlyMap<number, number>;
  /** The usernames here, by those at the source; missing or undefined for people without an account here. */
  usernames: ReadonlyMap<string, string | undefined>;
}

/** A change to a part of the text. */
interface Edit {
  start: number;
  end: number;
  text: string;
}

/** The longest run of backticks that we use: a hostile text can contain runs of every short length. */
const maximumBackticks = 8;

/**
 * The number of backticks for a code span that no other run in the text can end; undefined if every usable length
 * occurs.
 */
function freeRun(text: string): number | undefined {
  const taken = new Set(Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  for (let length = 1; length <= maximumBackticks; length++) if (!taken.has(length)) return length;
  return undefined;
}

/** A mention as a code span, or with its `@` escaped where code is not possible, which is no mention either. */
function quoted(text: string, { start, end }: Reference, run: number | undefined): string {
  const mention = text.slice(start, end);
  if (run === undefined || text[start - 1] === '`' || text[end] === '`') return `\\${mention}`;
  const marks = '`'.repeat(run);
  return `${marks}${mention}${marks}`;
}

function mentionHere(text: string, reference: Reference, { paths, usernames }: Moved, run: number | undefined): string {
  const name = reference.value.toLowerCase();
  const here = usernames.get(name) ?? paths.get(name);
  return here === undefined ? quoted(text, reference, run) : `@${here}`;
}

/** The maximum number of parts in a path. */
const maximumLevels = 21;

/** The path here for a full path at the source, also below a migrated group whose contents have not been listed yet. */
export function movedPath(path: string, { paths, groups }: Pick<Moved, 'paths' | 'groups'>): string | undefined {
  const key = path.toLowerCase();
  const here = paths.get(key);
  if (here !== undefined) return here;
  let longest: string | undefined;
  for (
    let end = key.indexOf('/'), level = 0;
    end > 0 && level < maximumLevels;
    end = key.indexOf('/', end + 1), level++
  ) {
    const above = groups.get(key.slice(0, end));
    if (above !== undefined) longest = `${above}${path.slice(end)}`;
  }
  return longest;
}

/** The path here of `group/project`, or of `project` in the namespace of the text. */
function pathHere(path: string, moved: Moved): string | undefined {
  if (path.includes('/')) return movedPath(path, moved);
  const beside = moved.place.slice(0, moved.place.lastIndexOf('/') + 1);
  return moved.paths.get(`${beside}${path}`.toLowerCase()) ?? moved.paths.get(path.toLowerCase());
}

function referenceHere(text: string, reference: Reference, moved: Moved, run: number | undefined): Edit | undefined {
  const { kind, path, start, end } = reference;
  if (kind === 'user') return { start, end, text: mentionHere(text, reference, moved, run) };
  const here = path === undefined ? undefined : pathHere(path, moved);
  return here === undefined ? undefined : { start, end: start + path!.length, text: here };
}

/** The part of an address that follows the path of a group or project. */
const afterPath = /\/-\/|\/uploads\/|[?#]/;
/** Characters that end a sentence, or mark emphasis. */
const noPath = "/.,;:!)'*_";

function pathIn(address: string): string {
  const found = address.search(afterPath);
  let end = found < 0 ? address.length : found;
  while (noPath.includes(address[end - 1] ?? ' ')) end--;
  return address.slice(0, end);
}

/**
 * The replacement for an address at the source, from its start to the end of the migrated group's or project's path.
 */
function addressHere({ text, start }: Address, moved: Moved): Edit | undefined {
  const { source_url, url } = moved;
  const begins = text.slice(0, source_url.length + 1).toLowerCase() === `${source_url.toLowerCase()}/`;
  if (!begins) return undefined;
  const below = text.slice(source_url.length + 1);
  const own = pathIn(below);
  const path = own.replace(/^groups\//, '');
  const here = movedPath(path, moved);
  if (here === undefined) return undefined;
  const prefix = path === own ? '' : 'groups/';
  return { start, end: start + source_url.length + 1 + own.length, text: `${url}/${prefix}${here}` };
}

const byId = /^\/-\/(project|group)\/(\d{1,15})(?=\/uploads\/)/;

/** Replaces `/-/project/<id>/uploads/…`, with or without the address of the source. */
function uploadHere({ text, start }: Address, { source_url, url, project_ids, group_ids }: Moved): Edit | undefined {
  const isFull = text.startsWith(`${source_url}/`);
  const [whole, kind, id] = byId.exec(isFull ? text.slice(source_url.length) : text) ?? [];
  const here = (kind === 'group' ? group_ids : project_ids).get(Number(id));
  if (whole === undefined || here === undefined) return undefined;
  const end = start + whole.length + (isFull ? source_url.length : 0);
  return { start, end, text: `${isFull ? url : ''}/-/${kind}/${here}` };
}

const upload = /\/uploads\/[0-9a-f]{32}\/([^/?#]+)/;

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The name of a file here, by the rules for names of uploads. */
export const uploadName = (name: string): string => storedName(shortenedName(name));

/** Replaces the name of an upload in its address if it differs here. */
function nameHere({ text, start }: Address, { source_url }: Moved): Edit | undefined {
  const found = upload.exec(text);
  const isOfSource = text.startsWith('/uploads/') || text.startsWith('/-/') || text.startsWith(`${source_url}/`);
  if (!found || !isOfSource) return undefined;
  const [whole, name] = found as unknown as [string, string];
  const here = uploadName(decoded(name));
  const end = start + found.index + whole.length;
  return here === decoded(name) ? undefined : { start: end - name.length, end, text: encodeURIComponent(here) };
}

export function* editsOf(text: string, moved: Moved): Steps<Edit[]> {
  const addresses: Address[] = [];
  const references = yield* readText(text, undefined, { addresses });
  const run = freeRun(text);
  const found: Edit[] = [];
  for (const reference of references) {
    yield;
    const edit = referenceHere(text, reference, moved, run);
    if (edit) found.push(edit);
  }
  for (const address of addresses) {
    yield;
    const edit = uploadHere(address, moved) ?? addressHere(address, moved);
    if (edit) found.push(edit);
    const name = nameHere(address, moved);
    if (name) found.push(name);
  }
  return found.sort((one, other) => one.start - other.start);
}

/**
 * Rewrites the references, mentions and addresses in a Markdown text to point to the migrated records. Mentions of
 * people without an account here become code, so that they notify nobody else of that name. Code, comments, HTML tags
 * and references to anything not migrated stay unchanged. Takes linear time, and yields to other requests in between.
 */
export async function textHere(text: string, moved: Moved): Promise<string> {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: replacement } of await inSlices(editsOf(text, moved))) {
    parts.push(text.slice(at, start), replacement);
    at = end;
  }
  parts.push(text.slice(at));
  return parts.join('');
}
