/** Who may read and change states of Terraform (docs/reference/terraform_states.md#permissions). */
import { holds, levels, mayRead, type Project, projectFor, reasonForReadOnly } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Access, type Caller, forbidden, notFound, unauthorized } from '../../../http/index.ts';

export interface Granted {
  caller: Caller;
  project: Project;
}

/** What somebody wants to do with a state. */
export type Wish = 'read' | 'write' | 'force';

const rights: Readonly<Record<Wish, (project: Project) => boolean>> = {
  read: (project) => project.access_level >= levels.developer || rights.write(project),
  write: (project) => holds(project, 'admin_terraform_state', 'project'),
  force: ({ access_level }) => access_level >= levels.maintainer,
};

/** The project, with the rights that its user has for the token of a job, which counts in the project of the job alone. */
async function projectOf(db: Database, caller: Caller, id: string): Promise<Project | undefined> {
  const { job, ...user } = caller;
  if (!job) return projectFor(db, caller, id);
  const project = await projectFor(db, { ...user, admin: job.of_admin }, id);
  return project?.id === job.project_id ? project : undefined;
}

/**
 * The project that a request names, for a caller who may do what they want with its states.
 * @throws ApiError 401, 403, 404
 */
export async function grantedFor(db: Database, caller: Caller | undefined, id: string, wish: Wish): Promise<Granted> {
  if (!caller) throw unauthorized();
  const project = await projectOf(db, caller, id);
  if (!project || !mayRead(caller, project)) throw notFound('Project');
  if (!rights[wish](project)) throw forbidden();
  if (wish !== 'read' && project.read_only) throw forbidden(reasonForReadOnly(project));
  return { caller, project };
}

const ruled = (rule: string, wish: Wish): Access<Granted> => ({
  rule,
  check: ({ db, caller, params }) => grantedFor(db, caller, params.id!, wish),
});

export const stateReader = ruled('project:developer or admin_terraform_state', 'read');
export const stateWriter = ruled('project:maintainer or admin_terraform_state', 'write');
