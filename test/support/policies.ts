/** Projects with security policies, for tests that need some. */
import assert from 'node:assert/strict';
import { readSecurityPolicies } from '../../src/areas/code/security_policies/index.ts';
import { policyPath } from '../../src/areas/code/security_policies/rules.ts';
import { performQueued } from './jobs.ts';
import { worldWithTopic } from './merge_requests.ts';
import { fileUrl, onMain } from './repository.ts';
import type { World, WorldOptions } from './world.ts';

interface PolicyProject {
  id: number;
  name: string;
  full_path: string;
}

let count = 0;

/** A private project in the group of the world. */
export async function addPolicyProject({ as, group }: World): Promise<PolicyProject> {
  const name = `policies-${++count}`;
  const made = await as('owner').post('/projects', { name, namespace_id: group.id, visibility: 'private' });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return { id: made.body.id, name, full_path: made.body.path_with_namespace };
}

/** A file with a policy by which maintainers approve each merge request into protected branches. */
export const approvalPolicy = (rule = 'type: any_merge_request'): string => `approval_policy:
  - name: Four eyes
    enabled: true
    rules:
      - branch_type: protected
        ${rule}
    actions:
      - type: require_approval
        approvals_required: 1
        role_approvers: [maintainer]
`;

/** Commits a file of policies to the default branch, as an administrator whom protections let pass, and has it read. */
export async function pushPolicies({ as, services }: World, project: PolicyProject, content: string): Promise<void> {
  const url = fileUrl(project, policyPath);
  const isThere = (await as('owner').get(`${url}`, { ref: 'main' })).status === 200;
  const write = isThere ? as('owner').put(url, { ...onMain, content }) : as('owner').post(url, { ...onMain, content });
  const { status, body } = await write;
  assert.ok(status < 300, JSON.stringify(body));
  await performQueued(services, [readSecurityPolicies]);
}

export interface WorldWithPolicies {
  here: World;
  policies: PolicyProject;
  /** The address of the link of the project of the world. */
  link: string;
}

/** A world with the branch `topic`, whose project is linked to a project with policies. */
export async function worldWithPolicies(text: string, options?: WorldOptions): Promise<WorldWithPolicies> {
  const here = await worldWithTopic(options);
  const policies = await addPolicyProject(here);
  const link = `/projects/${here.project.id}/security_policy_project`;
  const linked = await here.as('owner').put(link, { project_id: policies.id });
  assert.equal(linked.status, 200, JSON.stringify(linked.body));
  await pushPolicies(here, policies, text);
  return { here, policies, link };
}
