/** The approvals of deployments, and who may deploy to protected environments (docs/reference/protected_environments.md). */
import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { Project } from '../../../access/index.ts';
import { type Database, momentInJson } from '../../../db/index.ts';
import { type Caller, forbidden } from '../../../http/index.ts';
import { presentUserBasic, type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { describedGrantee } from '../protected_environments/present.ts';
import { type Place, protectionsOf } from '../protected_environments/queries.ts';
import { type Actor, mayDeploy, type ProtectionRule } from '../protected_environments/rules.ts';
import type { DeploymentApproval, DeploymentDetails } from './present.ts';

export interface Acting {
  project: Project;
  caller: Caller;
}

export const actorOf = ({ project, caller }: Acting): Actor => ({ caller, access_level: project.access_level });

const approving = (protections: readonly (readonly ProtectionRule[])[]): ProtectionRule[] =>
  protections.flat().filter(({ purpose }) => purpose === 'approve');

/** Whether the caller may deploy to an environment, and the rules whose approvals a deployment there needs. */
export async function protectionFor(
  db: Database,
  { project, caller }: Acting,
  environment: Omit<Place, 'project_id'>,
): Promise<{ may_deploy: boolean; approval_rules: ProtectionRule[] }> {
  const protections = await protectionsOf(db, { ...environment, project_id: project.id }, caller.id);
  return {
    may_deploy: mayDeploy(protections, actorOf({ project, caller })),
    approval_rules: approving(protections),
  };
}

/** @throws ApiError 403 if the environment is protected against the caller */
export async function refuseUnnamed(
  db: Database,
  acting: Acting,
  environment: Omit<Place, 'project_id'>,
): Promise<void> {
  if (!(await protectionFor(db, acting, environment)).may_deploy) throw forbidden();
}

/** The approval rules that apply to a deployment to an environment. */
export const approvalRulesOf = async (db: Database, place: Place, user_id: number | null): Promise<ProtectionRule[]> =>
  approving(await protectionsOf(db, place, user_id));

export interface ApprovalRow {
  rule_id: number | null;
  status: 'approved' | 'rejected';
  created_at: string;
  comment: string | null;
  user: UserBasicRow;
}

/** The approvals and rejections of a deployment, oldest first. */
export async function approvalsOf(db: Database, deployment_id: number): Promise<ApprovalRow[]> {
  const { rows } = await sql<ApprovalRow>`
    select rule_id, status, ${momentInJson('deployment_approvals.created_at')} as created_at, comment, ${userBasicJson('users')} as user
      from deployment_approvals join users on users.id = deployment_approvals.user_id
     where deployment_id = ${deployment_id} order by deployment_approvals.id`.execute(db);
  return rows;
}

/** The number of approvals that a rule still needs. */
export const missingFor = ({ id, required_approvals }: ProtectionRule, approvals: readonly Approved[]): number =>
  Math.max(
    0,
    required_approvals - approvals.filter(({ rule_id, status }) => rule_id === id && status === 'approved').length,
  );

type Approved = Pick<ApprovalRow, 'rule_id' | 'status'>;

/** The number of approvals that all rules still need. */
export const missing = (rules: readonly ProtectionRule[], approvals: readonly Approved[]): number =>
  rules.reduce((sum, rule) => sum + missingFor(rule, approvals), 0);

export const presentApproval = (
  url: string,
  { user, status, created_at, comment }: ApprovalRow,
): Static<typeof DeploymentApproval> => ({ user: presentUserBasic(url, user), status, created_at, comment });

/** The members about approvals in the reply for a deployment. */
export async function approvalMembers(
  db: Database,
  url: string,
  { id, status, ...place }: Place & { id: number; status: string },
): Promise<Pick<Static<typeof DeploymentDetails>, 'pending_approval_count' | 'approvals' | 'approval_summary'>> {
  const [rules, approvals] = await Promise.all([approvalRulesOf(db, place, null), approvalsOf(db, id)]);
  return {
    pending_approval_count: status === 'blocked' ? missing(rules, approvals) : 0,
    approvals: approvals.map((approval) => presentApproval(url, approval)),
    approval_summary: {
      rules: rules.map((rule) => ({
        user_id: rule.user_id,
        group_id: rule.group_id,
        access_level: rule.access_level,
        access_level_description: describedGrantee(rule),
        required_approvals: rule.required_approvals,
        deployment_approvals: approvals
          .filter(({ rule_id }) => rule_id === rule.id)
          .map((approval) => presentApproval(url, approval)),
      })),
    },
  };
}
