/** Access rules for pipelines and jobs (docs/reference/pipelines.md#permissions). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  isMemberOfProject,
  isUsable,
  isVisibleProject,
  levels,
  type MaybeCaller,
  mayUse,
  type Project,
  projectVisible,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Access, forbidden } from '../../../http/index.ts';

/** This setting matters only to callers below Reporter in private projects, so it is not part of the cached project. */
async function showsJobs(db: Database, { id }: Project): Promise<boolean> {
  const row = await db.selectFrom('projects').select('public_jobs').where('id', '=', id).executeTakeFirst();
  return row?.public_jobs ?? false;
}

/** Grants the project in `:id` to Reporters, to Guests unless `public_jobs` is off, and, unless it is private, to everybody who can see it. */
export const pipelinesReader: Access<{ caller: MaybeCaller; project: Project }> = {
  rule: 'project:read_pipelines',
  anonymous: true,
  async check(call) {
    const granted = await projectVisible.check(call);
    const { project } = granted;
    if (!mayUse(project, 'repository')) throw forbidden();
    if (project.access_level >= levels.reporter || project.visibility !== 'private') return granted;
    if (!(await showsJobs(call.db, project))) throw forbidden();
    return granted;
  },
};

/** A predicate on rows of `pipelines` joined with `projects`: pipelines of other systems stay when the project runs none of its own. */
export const isShownPipeline = (caller: MaybeCaller): RawBuilder<SqlBool> => sql`
  (pipelines.source = 'external' or ${isUsable(caller, 'builds')})`;

/** A predicate on rows of `projects`: the SQL form of `pipelinesReader`. */
export const hasReadablePipelines = (caller: MaybeCaller): RawBuilder<SqlBool> => sql`
  (${isVisibleProject(caller)} and ${isUsable(caller, 'repository')}
   and (projects.visibility <> 'private' or projects.public_jobs or ${isMemberOfProject(caller, levels.reporter)}))`;
