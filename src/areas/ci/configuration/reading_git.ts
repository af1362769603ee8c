/** Reads the files that configurations include, and what happened to them, with the rights of the person for whom they are compiled (docs/reference/ci_configuration.md#includes). */
import { type MaybeCaller, mayDownloadCode, mayRead, type Project, projectFor } from '../../../access/index.ts';
import type { FileContent, FileContext, FileRefusal, FileRequest, Reader } from '../../../ci_configuration/index.ts';
import { pagePath } from '../../../foundation/addresses.ts';
import { nextTurn } from '../../../foundation/loop_turns.ts';
import {
  blobSize,
  changedFiles,
  entryAt,
  listTree,
  mergeBase,
  OutputTooLong,
  type Repository,
  readBlob,
  readCommit,
  repositoryOf,
  resolveCommit,
} from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { fetchWhole, LimitError, OutboundError, urlReasons } from '../../../outbound/index.ts';
import { blobPage } from '../../code/repository/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';

export type Reading = Pick<Services, 'db' | 'storages' | 'url'>;

/** The commit of a project without any. */
export const noCommit = '0'.repeat(40);

/** Reads a file that a job has left. */
export type ArtifactReader = (
  request: Extract<FileRequest, { type: 'artifact' }>,
) => Promise<Pick<FileContent, 'content'> | FileRefusal>;

export const maximumFile_bytes = 2 * 1024 * 1024;
const remote_ms = 5_000;
const remoteRedirects = 3;
const all_ms = 30_000;
const maximumChanged = 5_000;
const changes_ms = 5_000;
/** Some milliseconds of work, after which others are served. */
const pathsInTurn = 5_000;

const rawPage = pagePath('/:project/-/raw/:ref/:path');

/** A project whose code the caller may download, with its repository. */
async function codeOf(services: Reading, caller: MaybeCaller, full_path: string) {
  const project = await projectFor(services.db, caller, full_path);
  return project && mayRead(caller, project) && mayDownloadCode(project)
    ? { project, repository: repositoryOf(services, project) }
    : undefined;
}

async function fileOf(
  { url }: Pick<Reading, 'url'>,
  { project, repository }: { project: Project; repository: Repository },
  { sha, path }: { sha: string; path: string },
): Promise<FileContent | FileRefusal> {
  const entry = sha === noCommit ? undefined : await entryAt(repository, sha, path.replace(/^\/+/, ''));
  if (entry?.type !== 'blob') return { refused: 'file_missing' };
  if ((await blobSize(repository, entry.id)) > maximumFile_bytes) return { refused: 'too_big' };
  const named = [project.full_path, sha, path.replace(/^\/+/, '')] as const;
  return {
    content: (await readBlob(repository, entry.id)).toString(),
    context: { project: project.full_path, sha },
    blob: url + blobPage(...named),
    raw: url + rawPage(...named),
  };
}

/** @param left_ms of the time for all files */
async function remoteFile(
  { db }: Pick<Reading, 'db'>,
  url: string,
  left_ms: number,
): Promise<FileContent | FileRefusal> {
  const may_be_local = (await settingsOf(db)).allow_local_requests_from_web_hooks_and_services;
  if (urlReasons(url, true).length > 0) return { refused: 'bad_address' };
  const [blocked] = urlReasons(url, may_be_local);
  if (blocked !== undefined) return { refused: 'unreachable', reason: `the address ${blocked}` };
  const signal = AbortSignal.timeout(Math.ceil(Math.min(remote_ms, left_ms)));
  const request = {
    ...{ method: 'GET' as const, url, headers: { 'user-agent': 'Coppice' }, secret_headers: {} },
    ...{ verifies_tls: true, may_be_local, silence_ms: remote_ms, most_redirects: remoteRedirects, signal },
  };
  try {
    const { status, body } = await fetchWhole(request, maximumFile_bytes);
    if (status < 200 || status > 299) return { refused: 'http_status', status };
    return { content: body.toString(), context: undefined, blob: null, raw: url };
  } catch (error) {
    if (signal.aborted) return { refused: 'timeout' };
    if (error instanceof LimitError) return { refused: 'too_big' };
    if (error instanceof OutboundError) return { refused: 'unreachable', reason: error.message };
    throw error;
  }
}

/** The paths that differ between the commit of a context and where it left a ref. */
async function changedSince(repository: Repository, sha: string, ref: string) {
  const other = await resolveCommit(repository, ref);
  if (other === undefined || sha === noCommit) return 'no_such_ref' as const;
  return changedBetween(repository, (await mergeBase(repository, [other, sha])) ?? other, sha);
}

/** The paths that a push has changed. */
async function changedByPush(repository: Repository, sha: string, before_sha: string) {
  // After a forced push git may have removed what was there before.
  const before = await resolveCommit(repository, before_sha);
  return before === undefined ? ('unknown' as const) : changedBetween(repository, before, sha);
}

async function changedBetween(repository: Repository, from: string, sha: string) {
  const late = Promise.withResolvers<'unknown'>();
  const timer = setTimeout(() => late.resolve('unknown'), changes_ms);
  try {
    const changed = await Promise.race([changedFiles(repository, { from, to: sha }), late.promise]);
    return changed === 'unknown' || changed.length > maximumChanged
      ? ('unknown' as const)
      : changed.map(({ path }) => path);
  } catch (error) {
    if (error instanceof OutputTooLong) return 'unknown' as const;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads what the compiler asks for.
 * @param caller whoever must be allowed to download the code of each project
 * @param built the commit that is built
 * @param more `before_sha` is the commit before a push of a branch, with which changes are compared; `artifact` reads files of jobs, which are not known here
 */
export function readerFor(
  services: Reading,
  caller: MaybeCaller,
  built: FileContext,
  { before_sha, artifact }: { before_sha?: string; artifact?: ArtifactReader },
): Reader {
  let began_ms: number | undefined;
  const left_ms = () => {
    began_ms ??= performance.now();
    return began_ms + all_ms - performance.now();
  };
  async function read(request: FileRequest): Promise<FileContent | FileRefusal> {
    const time_ms = left_ms();
    if (time_ms <= 0) return { refused: 'took_too_long' };
    if (request.type === 'remote') return remoteFile(services, request.url, time_ms);
    if (request.type === 'artifact') {
      const read = await artifact?.(request);
      if (!read) return { refused: 'no_parent_pipeline' };
      return 'refused' in read ? read : { ...read, context: built, blob: null, raw: null };
    }
    const { path } = request;
    const isLocal = request.type === 'local';
    const code = await codeOf(services, caller, isLocal ? request.context.project : request.project);
    if (!code) return { refused: 'project_hidden' };
    const sha = isLocal
      ? request.context.sha
      : await resolveCommit(code.repository, request.ref ?? code.project.default_branch);
    return sha === undefined ? { refused: 'ref_missing' } : fileOf(services, code, { sha, path });
  }
  return {
    read,
    async paths({ project, sha }) {
      const code = sha === noCommit ? undefined : await codeOf(services, caller, project);
      if (!code) return [];
      const { tree_id } = await readCommit(code.repository, sha);
      const listing = await listTree(code.repository, tree_id, { is_recursive: true });
      const paths: string[] = [];
      for (let at = 0; at < listing.length; at += pathsInTurn) {
        for (const { path, type } of listing.entries(at, at + pathsInTurn))
          if (type === 'blob' || type === 'symlink') paths.push(path);
        await nextTurn();
      }
      return paths;
    },
    async changed(compare_to) {
      // A new branch has nothing to be compared with.
      if (compare_to === undefined && before_sha === undefined) return 'unknown';
      const code = await codeOf(services, caller, built.project);
      if (compare_to === undefined) return code ? changedByPush(code.repository, built.sha, before_sha!) : 'unknown';
      return code ? changedSince(code.repository, built.sha, compare_to) : 'no_such_ref';
    },
    async commitOf(project, ref) {
      const code = await codeOf(services, caller, project);
      const sha = code && (await resolveCommit(code.repository, ref ?? code.project.default_branch));
      return code && sha !== undefined ? { project: code.project.full_path, sha } : undefined;
    },
  };
}
