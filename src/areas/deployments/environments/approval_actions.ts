/** Approving and rejecting deployments to protected environments. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { badRequest, Id } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { describedGrantee } from '../protected_environments/present.ts';
import { isNamed, type ProtectionRule } from '../protected_environments/rules.ts';
import { type ApprovalRow, actorOf, approvalRulesOf, approvalsOf, missing, missingFor } from './approval_queries.ts';
import { decided, lockedDeployment, type Recording, setStatuses } from './deployment_actions.ts';
import type { DeploymentStatus } from './rules.ts';

export const approvalTexts = {
  unprotected: 'This environment is not protected',
  unnamed: 'You do not have permission to approve or reject this deployment',
  done: 'This deployment job is not waiting for approvals',
  own: 'The same user can not approve',
  bot: 'Bots of projects and groups can not approve',
};

interface Approval {
  status: 'approved' | 'rejected';
  comment?: string;
  represented_as?: string;
}

/** The rule that an approval counts towards: the requested one, or the first rule that still needs approvals. */
function ruleFor(
  rules: readonly ProtectionRule[],
  others: readonly ApprovalRow[],
  represented_as: string | undefined,
): ProtectionRule | undefined {
  if (represented_as) return rules.find((rule) => describedGrantee(rule) === represented_as);
  return rules.find((rule) => missingFor(rule, others) > 0) ?? rules[0];
}

/** Whether users may approve what they deploy. */
async function mayApproveOwn(
  tx: Database,
  { job_id }: { job_id: number | null },
  project_id: number,
): Promise<boolean> {
  if (job_id === null) return false;
  const query = tx.selectFrom('projects').select('allow_pipeline_trigger_approve_deployment as allowed');
  return (await query.where('id', '=', project_id).executeTakeFirstOrThrow()).allowed;
}

/** Fails the job of a deployment that was rejected. A higher area runs the job. */
export const failRejectedJob = queueOf('fail_rejected_job', { input: { job_id: Id, project_id: Id }, retries: 3 });

interface Concluded {
  id: number;
  status: DeploymentStatus;
  /** Of the environment. */
  name: string;
  job_id: number | null;
  missing_approvals: number;
  is_approved: boolean;
}

/** What becomes of a deployment that no approval is missing for any more, or that was rejected. A job that may deploy now waits to be started. */
async function conclude(
  tx: Database,
  acting: Recording,
  { id, status: from, name, job_id, missing_approvals, is_approved }: Concluded,
): Promise<void> {
  if (job_id === null) {
    const situation = { from, to: is_approved ? 'running' : 'failed', may_deploy: true, missing_approvals } as const;
    return setStatuses(tx, [{ id, ...(await decided(tx, acting, name, situation)) }]);
  }
  await setStatuses(tx, [{ id, status: is_approved ? 'created' : 'failed' }]);
  if (!is_approved) await failRejectedJob.enqueue(tx, { job_id, project_id: acting.project.id });
}

/**
 * Approves or rejects a deployment. The last required approval lets it run; one rejection ends it. A later answer of a user replaces the earlier one.
 * @throws ApiError 404, 400 if it is not waiting or the caller may not approve, 403 if a freeze refuses the deployment that the last approval would begin
 */
export function approveDeployment(
  db: Database,
  acting: Recording,
  id: number,
  { status, comment, represented_as }: Approval,
): Promise<ApprovalRow> {
  const { project, caller } = acting;
  return db.transaction().execute(async (tx) => {
    const deployment = await lockedDeployment(tx, project.id, id);
    const rules = await approvalRulesOf(tx, { ...deployment, project_id: project.id }, caller.id);
    if (rules.length === 0) throw badRequest(approvalTexts.unprotected);
    const own = rules.filter((rule) => isNamed(rule, actorOf(acting)));
    const others = (await approvalsOf(tx, id)).filter(({ user }) => user.id !== caller.id);
    const rule = ruleFor(own, others, represented_as);
    if (!rule) throw badRequest(approvalTexts.unnamed);
    if (deployment.status !== 'blocked') throw badRequest(approvalTexts.done);
    if (status === 'approved' && deployment.user_id === caller.id && !(await mayApproveOwn(tx, deployment, project.id)))
      throw badRequest(approvalTexts.own);
    // The bot may belong to the person who created the deployment.
    if (status === 'approved' && (caller.token.kind === 'project' || caller.token.kind === 'group'))
      throw badRequest(approvalTexts.bot);
    await writeApproval(tx, {
      deployment_id: id,
      user_id: caller.id,
      rule_id: rule.id,
      status,
      comment: comment ?? null,
    });
    const approvals = await approvalsOf(tx, id);
    const missing_approvals = missing(rules, approvals);
    if (status === 'rejected' || missing_approvals === 0)
      await conclude(tx, acting, { ...deployment, missing_approvals, is_approved: status === 'approved' });
    return approvals.find(({ user }) => user.id === caller.id)!;
  });
}

interface NewApproval {
  deployment_id: number;
  user_id: number;
  rule_id: number;
  status: 'approved' | 'rejected';
  comment: string | null;
}

/** @throws ApiError 400 if the rule was deleted meanwhile */
async function writeApproval(
  tx: Database,
  { deployment_id, user_id, rule_id, status, comment }: NewApproval,
): Promise<void> {
  const { numAffectedRows } = await sql`
    insert into deployment_approvals (deployment_id, user_id, rule_id, status, comment)
    select ${deployment_id}, ${user_id}, id, ${status}, ${comment} from protected_environment_rules where id = ${rule_id} for key share
        on conflict on constraint deployment_approvals_key
        do update set rule_id = excluded.rule_id, status = excluded.status, comment = excluded.comment, created_at = now()`.execute(
    tx,
  );
  if (numAffectedRows === 0n) throw badRequest(approvalTexts.unnamed);
}
