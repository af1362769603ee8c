/** Who may read which policies are in force, and who links projects and groups to them (docs/reference/security_policies.md#permissions). */
import {
  type Group,
  groupRole,
  mayRead,
  mayReadCode,
  type Owner,
  type Project,
  projectFor,
  projectRole,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Access, type Caller, notFound } from '../../../http/index.ts';

export const plan = 'ultimate';
const permission = 'manage_security_policy_link';

export interface Granted {
  caller: Caller;
  owner: Owner;
}

/** The same rule, with what it grants as an owner. */
const ofProject = (rule: Access<{ caller: Caller; project: Project }>): Access<Granted> => ({
  ...rule,
  async check(call) {
    const { caller, project } = await rule.check(call);
    return { caller, owner: { project_id: project.id, group_id: null } };
  },
});

const ofGroup = (rule: Access<{ caller: Caller; group: Group }>): Access<Granted> => ({
  ...rule,
  async check(call) {
    const { caller, group } = await rule.check(call);
    return { caller, owner: { project_id: null, group_id: group.id } };
  },
});

/** Grants what is in `:id` to those who may read its policies, and to those who may link it. */
export const policyReader = {
  project: ofProject(projectRole('developer', { permission, archived: true })),
  group: ofGroup(groupRole('developer', { permission })),
};

/** Grants what is in `:id` to those who may link it to a policy project. */
export const policyLinker = {
  project: ofProject(projectRole('owner', { permission })),
  group: ofGroup(groupRole('owner', { permission })),
};

/**
 * The project that a parameter names, by its ID or path.
 * @throws ApiError 404 unless the caller may read its code
 */
export async function readableProject(db: Database, caller: Caller, named: number | string): Promise<number> {
  const project = await projectFor(db, caller, String(named));
  if (!project || !mayRead(caller, project) || !mayReadCode(project)) throw notFound('Project');
  return project.id;
}
