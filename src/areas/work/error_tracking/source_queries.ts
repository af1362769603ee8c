/** The lines of a stack, and where they are in the repository. */
import { mayReadCode, type Project } from '../../../access/index.ts';
import { entryAt, type Repository, repositoryOf, resolveCommit } from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { type Frame, readFrame } from './frame_rules.ts';
import type { JsonObject } from './payload_rules.ts';
import { crashFrames } from './stack_rules.ts';

export interface Source {
  file_path: string;
  /** The commit or tag that the release names. */
  ref: string;
  web_url: string;
}

export interface StackTraceEntry extends Frame {
  source: Source | null;
}

/** A file name as a path in a repository: without the scheme of a bundler, and without what says that it is relative. */
const pathOf = (filename: string): string => filename.replace(/^[a-z][\w+.-]*:\/+/i, '').replace(/^(?:\.?\/+)+/, '');

/** The commit that a release names: its id, a tag, or a tag after the name of the application, as in `shop@v1.2`. */
async function commitOf(repository: Repository, release: string): Promise<{ ref: string; commit: string } | undefined> {
  for (const ref of new Set([release, release.slice(release.lastIndexOf('@') + 1)])) {
    const isId = /^[0-9a-f]{7,64}$/i.test(ref);
    const tagged = await resolveCommit(repository, `refs/tags/${ref}`);
    const commit = tagged ?? (isId ? await resolveCommit(repository, ref, { prefer: 'tag' }) : undefined);
    if (commit !== undefined) return { ref, commit };
  }
  return undefined;
}

const isFile = async (repository: Repository, commit: string, file_path: string): Promise<boolean> => {
  const entry = file_path === '' ? undefined : await entryAt(repository, commit, file_path);
  return entry?.type === 'blob';
};

/** Finds files in the commit that a release names, each once. */
async function finderFor(services: Services, project: Project, release: string | null) {
  if (release === null || project.empty_repo || !mayReadCode(project)) return async () => null;
  const repository = repositoryOf(services, project);
  const named = await commitOf(repository, release);
  if (named === undefined) return async () => null;
  const known = new Map<string, Promise<boolean>>();
  return async (filename: string | null, line: number | null): Promise<Source | null> => {
    if (filename === null) return null;
    const file_path = pathOf(filename);
    const isKnown = known.get(file_path) ?? isFile(repository, named.commit, file_path);
    known.set(file_path, isKnown);
    if (!(await isKnown)) return null;
    const [ref, at] = [named.ref, file_path].map((text) => text.split('/').map(encodeURIComponent).join('/'));
    const web_url = `${services.url}/${project.full_path}/-/blob/${ref}/${at}${line === null ? '' : `#L${line}`}`;
    return { file_path, ref: named.ref, web_url };
  };
}

/**
 * The stack of an event, oldest call first, at most 50 lines as stored.
 * @param project its code is looked at if the caller may read it
 */
export async function stackOf(
  services: Services,
  project: Project,
  { payload, release }: { payload: JsonObject; release: string | null },
): Promise<StackTraceEntry[]> {
  const sourceOf = await finderFor(services, project, release);
  const frames = crashFrames(payload).map(readFrame);
  return Promise.all(frames.map(async (frame) => ({ source: await sourceOf(frame.filename, frame.lineNo), ...frame })));
}
