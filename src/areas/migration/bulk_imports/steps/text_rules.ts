/** Leads what a text of another server names to what was made of it here. */
import { shortenedName } from '../../../../http/index.ts';
import {
  type Address,
  inSlices,
  type Reference,
  readText,
  type Steps,
  storedName,
} from '../../../../markdown/index.ts';

/** What is known when a text arrives. Paths and usernames of the source are in lower case. */
export interface Moved {
  /** The address of the source, and ours, without a slash at the end. */
  source_url: string;
  url: string;
  /** The full path, at the source, of the project or group that the text is from. */
  place: string;
  /** The full paths here of groups and projects, by those at the source. */
  paths: ReadonlyMap<string, string>;
  /** The same of those groups of which it is not known yet what is in them. */
  groups: ReadonlyMap<string, string>;
  /** The ids here of projects and groups, by those at the source. */
  project_ids: ReadonlyMap<number, number>;
  group_ids: ReadonlyMap<number, number>;
  /** The usernames here, by those at the source; who is missing or undefined has no account here. */
  usernames: ReadonlyMap<string, string | undefined>;
}

/** A part of the text that changes. */
interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Longer runs of backticks are not used: a text can have runs of every short length on purpose. */
const maximumBackticks = 8;

/** How many backticks make code that no others in the text can end; undefined when there are too many kinds of runs. */
function freeRun(text: string): number | undefined {
  const taken = new Set(Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  for (let length = 1; length <= maximumBackticks; length++) if (!taken.has(length)) return length;
  return undefined;
}

/** A mention as code, or with its mark escaped where code is not possible: that is no mention either. */
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

/** No path has more. */
const maximumLevels = 21;

/** The path here of what has this full path at the source, also when it is below a group that is moved and has not been found yet. */
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

/** The path here of `group/project`, or of `project` beside the place of the text. */
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

/** What ends the path of a group or project in an address. */
const afterPath = /\/-\/|\/uploads\/|[?#]/;
/** What ends a sentence, or is a mark of emphasis. */
const noPath = "/.,;:!)'*_";

function pathIn(address: string): string {
  const found = address.search(afterPath);
  let end = found < 0 ? address.length : found;
  while (noPath.includes(address[end - 1] ?? ' ')) end--;
  return address.slice(0, end);
}

/** An address at the source, from its start to the end of the path of what was moved. */
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

/** `/-/project/<id>/uploads/…`, with or without the address of the source. */
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

/** The name that a file has here, as in the names that uploads get. */
export const uploadName = (name: string): string => storedName(shortenedName(name));

/** The name of an upload in its address, where it is another one here. */
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
 * A Markdown text with its references, mentions and addresses led to what was moved here. Mentions of people without an account here become code, so that no one else of
 * that name is meant. Code, comments, HTML tags and what was not moved stay as they are. It takes linear time, and other requests are served in between.
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
