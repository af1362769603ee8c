/** Who may read and change secure files (docs/reference/secure_files.md#permissions). */
import { type Project, projectRole } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Access, type Caller, forbidden } from '../../../http/index.ts';

const feature = ['repository', 'builds'] as const;

const developer = projectRole('developer', { feature });

export const secureFileMaintainer = projectRole('maintainer', { feature });

/** Whether the job of a caller is one of this project, for a protected branch or tag. */
async function isProtectedJob(db: Database, { job }: Caller, project: Project): Promise<boolean> {
  if (job?.project_id !== project.id) return false;
  const query = db.selectFrom('pipelines').select('is_protected').where('id', '=', job.pipeline_id);
  return (await query.executeTakeFirst())?.is_protected ?? false;
}

/** Grants Developers the project. A job reads the files of its own project, while it is for a protected branch or tag. */
export const secureFileReader: Access<{ caller: Caller; project: Project }> = {
  rule: developer.rule,
  async check(call) {
    const granted = await developer.check(call);
    const { caller, project } = granted;
    if (caller.job && !(await isProtectedJob(call.db, caller, project))) throw forbidden();
    return granted;
  },
};
