/** Locates the frames of a stack in the repository. */
import { commitKind, mayReadCode, type Project } from '../../../../access/index.ts';
import {
  blame,
  entryAt,
  GitError,
  LineOutOfRange,
  type Repository,
  readBlob,
  repositoryOf,
  resolveCommit,
} from '../../../../git/index.ts';
import type { Conditions, Services } from '../../../../http/index.ts';
import type { Original } from '../../../../source_maps/index.ts';
import { blobPage } from '../../../code/repository/index.ts';
import { type Frame, readFrame } from '../payload/frame_rules.ts';
import type { JsonObject } from '../payload/rules.ts';
import { commitOfVersion } from '../releases/version_queries.ts';
import { tildeUrl } from '../source_maps/bundle_rules.ts';
import { uploadedOriginals } from '../source_maps/map_queries.ts';
import { costlyMaps, type Reader, readMap } from '../source_maps/reading_actions.ts';
import { crashFrames } from './stack_rules.ts';

export interface Source {
  file_path: string;
  /** The commit or tag of the release. */
  ref: string;
  web_url: string;
}

/** The commit that last changed a line. */
export interface LineBlame {
  commit_id: string;
  title: string;
  author_name: string;
  authored_date: string;
  web_url: string;
}

/** The position of a frame as sent by the client, if a source map gives its origin. */
type Minified = Pick<Frame, 'filename' | 'lineNo' | 'colNo' | 'function'>;

/** A frame at its original position. */
export interface TracedFrame extends Frame {
  minified: Minified | null;
}

export interface StackTraceEntry extends TracedFrame {
  source: Source | null;
  blame: LineBlame | null;
}

/** Per stack: the most recent calls. */
const maximumBlames = 5;
/** Per event, and per map. */
const maximumCommittedMaps = 5;
const maximumMap_bytes = 32 * 2 ** 20;

/** Converts a file name to a path in a repository: strips the scheme of a bundler, and prefixes of relative paths. */
const pathOf = (filename: string): string =>
  filename.replace(/^[a-z][\w+.-]*:\/+/i, '').replace(/^(?:\.{0,2}\/+)+/, '');

interface Code {
  repository: Repository;
  commit: string;
  ref: string;
  project: Project;
  /** The external address of the server. */
  url: string;
}

/** The commit of a release: the one announced by a client, its id, a tag, or a tag prefixed with the application's name, as in `shop@v1.2`. */
async function codeOf(
  { db, ...services }: Services,
  project: Project,
  release: string | null,
): Promise<Code | undefined> {
  if (release === null || project.empty_repo || !mayReadCode(project)) return undefined;
  const repository = repositoryOf(services, project);
  const announced = await commitOfVersion(db, project.id, release);
  for (const ref of new Set([announced ?? release, release, release.slice(release.lastIndexOf('@') + 1)])) {
    const isId = /^[0-9a-f]{7,64}$/i.test(ref);
    const tagged = await resolveCommit(repository, `refs/tags/${ref}`);
    const commit = tagged ?? (isId ? await resolveCommit(repository, ref, { prefer: 'tag' }) : undefined);
    if (commit !== undefined) return { repository, commit, ref, project, url: services.url };
  }
  return undefined;
}

/** The id of a file in a commit; null if there is none. */
async function fileAt({ repository, commit }: Code, file_path: string): Promise<string | null> {
  const entry = file_path === '' ? undefined : await entryAt(repository, commit, file_path);
  return entry?.type === 'blob' ? entry.id : null;
}

/** Returns a function that looks up files, each once. */
function finderIn(code: Code): (file_path: string) => Promise<string | null> {
  const known = new Map<string, Promise<string | null>>();
  return (file_path) => {
    const id = known.get(file_path) ?? fileAt(code, file_path);
    known.set(file_path, id);
    return id;
  };
}

interface Lookup {
  code: Code;
  find: ReturnType<typeof finderIn>;
}

async function lookupOf(services: Services, project: Project, release: string | null): Promise<Lookup | undefined> {
  const code = await codeOf(services, project, release);
  return code && { code, find: finderIn(code) };
}

async function sourceOf({ code, find }: Lookup, { filename, lineNo }: Frame): Promise<Source | null> {
  const file_path = pathOf(filename ?? '');
  if ((await find(file_path)) === null) return null;
  const page = code.url + blobPage(code.project.full_path, code.ref, file_path);
  return { file_path, ref: code.ref, web_url: lineNo === null ? page : `${page}#L${lineNo}` };
}

/** The map committed beside a file. */
async function committedMap({ find }: Lookup, { filename, abs_path }: Frame): Promise<string | undefined> {
  const places = [filename, abs_path].flatMap((name) =>
    name === null ? [] : [pathOf(name), tildeUrl(name)?.slice(2) ?? ''],
  );
  for (const place of new Set(places)) {
    const id = /\.[cm]?js$/.test(place) ? await find(`${place}.map`) : null;
    if (id !== null) return id;
  }
  return undefined;
}

/** The original positions of frames, from maps in the repository. */
async function committedOriginals(
  reader: Reader,
  lookup: Lookup,
  frames: readonly (Frame | undefined)[],
): Promise<(Original | undefined)[]> {
  const maps = await Promise.all(
    frames.map((frame) =>
      frame && frame.lineNo !== null && frame.colNo !== null ? committedMap(lookup, frame) : undefined,
    ),
  );
  const originals: (Original | undefined)[] = frames.map(() => undefined);
  const used = [...new Set(maps)].filter((each) => each !== undefined).slice(0, maximumCommittedMaps);
  const isCostly = await costlyMaps(reader, used);
  for (const id of used) {
    if (isCostly(id) || reader.signal.aborted) continue;
    const bytes = await readBlob(lookup.code.repository, id, maximumMap_bytes).catch(() => undefined);
    const indexes = maps.flatMap((each, index) => (each === id ? [index] : []));
    const positions = indexes.map((index): [number, number] => [frames[index]!.lineNo!, frames[index]!.colNo!]);
    const answers =
      bytes && (await readMap(reader, id, { bytes: Uint8Array.from(bytes), is_deflated: false, positions }));
    for (const [at, index] of indexes.entries()) originals[index] = answers?.[at] ?? undefined;
  }
  return originals;
}

/** The original name of a function is known only at its call: in the previous frame. */
function traced(frame: Frame, original: Original | undefined, caller: Original | undefined): TracedFrame {
  if (!original) return { ...frame, minified: null };
  const { filename, lineNo, colNo, function: called } = frame;
  return {
    ...frame,
    filename: original.source,
    lineNo: original.line,
    colNo: original.column,
    function: caller?.name ?? called,
    context: original.context.length > 0 ? original.context : frame.context,
    minified: { filename, lineNo, colNo, function: called },
  };
}

async function blameOf(
  { repository, commit, project, url }: Code,
  { file_path }: Source,
  line: number,
): Promise<LineBlame | null> {
  try {
    const [group] = await blame(repository, commit, file_path, { start: line, end: line });
    if (!group) return null;
    const { id, title, author_name, authored_date } = group.commit;
    return {
      commit_id: id,
      title,
      author_name,
      authored_date,
      web_url: url + commitKind.page(project.full_path, id),
    };
  } catch (error) {
    if (error instanceof LineOutOfRange || error instanceof GitError) return null;
    throw error;
  }
}

/** The services used to resolve a stack while the client waits. */
type Serving = Services & Pick<Conditions, 'left'>;

interface Sent {
  payload: JsonObject;
  release: string | null;
}

/** The limits apply per event, whatever the number of its stacks. */
async function traceAll(
  services: Serving,
  project: Project,
  event: Sent,
  lookup: Lookup | undefined,
  stacks: readonly (readonly Frame[])[],
): Promise<TracedFrame[][]> {
  const sent = stacks.flat();
  const reader = { db: services.db, project_id: project.id, signal: services.left() };
  const uploaded = await uploadedOriginals(services, reader, sent, event);
  const others = sent.map((frame, index) => (uploaded[index] ? undefined : frame));
  const committed = lookup ? await committedOriginals(reader, lookup, others) : [];
  let before = 0;
  return stacks.map((frames) => {
    const start = before;
    before += frames.length;
    const original = (index: number) => (index < 0 ? undefined : (uploaded[start + index] ?? committed[start + index]));
    return frames.map((frame, index) => traced(frame, original(index), original(index - 1)));
  });
}

/** The stacks of an event, with original positions from source maps. */
export const tracedStacks = async (
  services: Serving,
  project: Project,
  event: Sent,
  stacks: readonly (readonly Frame[])[],
): Promise<TracedFrame[][]> =>
  traceAll(services, project, event, await lookupOf(services, project, event.release), stacks);

/**
 * The stack of an event, oldest call first, at most 50 lines as stored.
 * @param project its code is used if the caller may read it
 */
export async function stackOf(services: Serving, project: Project, event: Sent): Promise<StackTraceEntry[]> {
  const lookup = await lookupOf(services, project, event.release);
  const [frames = []] = await traceAll(services, project, event, lookup, [crashFrames(event.payload).map(readFrame)]);
  const sources = await Promise.all(frames.map((frame) => (lookup ? sourceOf(lookup, frame) : null)));
  const blamed = new Set(
    sources.flatMap((source, index) => (source && frames[index]!.lineNo ? [index] : [])).slice(-maximumBlames),
  );
  return Promise.all(
    frames.map(async (frame, index) => ({
      source: sources[index]!,
      blame: lookup && blamed.has(index) ? await blameOf(lookup.code, sources[index]!, frame.lineNo!) : null,
      ...frame,
    })),
  );
}
