/** Access rules that grant a commit of the project in `:id`, for the comments on it. */
import { type SqlBool, sql } from 'kysely';
import { pagePath } from '../foundation/addresses.ts';
import { repositoryOf, resolveCommit } from '../git/index.ts';
import { type Access, type AccessCall, type Caller, isReading } from '../http/endpoint.ts';
import { notFound, unauthorized } from '../http/errors.ts';
import type { MaybeCaller } from './instance.ts';
import { levels } from './levels.ts';
import type { CommitKind, DiscussedCommit, NoteableAddress, OnNoteable } from './noteables.ts';
import { readRule } from './project_readers.ts';
import { codeReader, mayReadCode, type Project, projectVisible, refuseReadOnly } from './projects.ts';
import { isUserOfProject } from './readers.ts';

const hasRepository = sql<SqlBool>`projects.repository_access_level <> 'disabled'`;

/** Who may read the code, as `mayReadCode` decides for one project. */
const codeRule = readRule(
  hasRepository,
  ({ isMember, isPermitted, knowsProject }) => sql`
    (${hasRepository} and (${isMember(levels.reporter)} or ${isPermitted('read_code')}
      or (projects.repository_access_level = 'enabled' and projects.visibility <> 'private' and ${knowsProject})))`,
);

/** A predicate on rows of `users` and `projects`: the user may read the code, as `mayReadCode` decides for a caller. */
export const readsCode = codeRule.isRead;

/** How a path names a commit. */
type Key = 'commit_id' | 'sha';

/**
 * The project in the path, if the caller may read its code.
 * @param missing how a 404 names the commit instead of the refusals of other endpoints of the repository
 */
async function projectWithCode(call: AccessCall, missing: string | undefined): Promise<Project> {
  if (missing === undefined) return (await codeReader.check(call)).project;
  const { project } = await projectVisible.check(call);
  if (project.repository_access_level === 'disabled' || !mayReadCode(project)) throw notFound(missing);
  return project;
}

const visibleBy = (key: Key, missing?: string): Access<OnNoteable<MaybeCaller, DiscussedCommit>> => ({
  rule: 'commit:visible',
  anonymous: true,
  async check(call) {
    const project = await projectWithCode(call, missing);
    if (!isReading(call.method)) refuseReadOnly(project);
    const sha = await resolveCommit(repositoryOf(call, project), call.params[key]!);
    if (sha === undefined) throw notFound('Commit');
    const { id: project_id, access_level } = project;
    return {
      caller: call.caller,
      on: { kind: commitKind, project_id, sha, in: { project }, access_level, locked: false },
    };
  },
});

const readerBy = (key: Key, missing?: string): Access<OnNoteable<Caller, DiscussedCommit>> => ({
  rule: 'commit:reader',
  async check(call) {
    if (!call.caller) throw unauthorized();
    return { ...(await visibleBy(key, missing).check(call)), caller: call.caller };
  },
});

const addressBy = (key: Key): NoteableAddress<DiscussedCommit> => ({
  path: `/projects/:id/repository/commits/:${key}`,
  visible: (missing) => visibleBy(key, missing),
  reader: (missing) => readerBy(key, missing),
});

/** Commits as noteables. A path names one by any revision; comments have its full id. */
export const commitKind: CommitKind = {
  name: 'commit',
  type: 'Commit',
  column: 'commit_id',
  place_column: 'project_id',
  places: 'projects',
  page: pagePath('/:project/-/commit/:sha'),
  threads_comments: false,
  discussed_at: addressBy('commit_id'),
  commented_at: addressBy('sha'),
  endpoints: (all) => [...all],
  ...codeRule,
  isReadInside: sql`(users.admin or ${isUserOfProject(levels.planner)})`,
};
