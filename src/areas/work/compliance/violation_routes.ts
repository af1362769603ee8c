/** Merge requests that were merged although their approvals were not as they should be (docs/reference/compliance_frameworks.md#violations). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { groupRole, isVisibleProject, mergeRequestKind } from '../../../access/index.ts';
import { get, Id, nullable, optional, pageOf, resource, Timestamp } from '../../../http/index.ts';
import { keysetPaging, mapPage, paginate } from '../../../lists/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow, userBasicJson } from '../../people/users/index.ts';

/** The reasons with how severe they are. */
const severities = {
  approved_by_author: 'high',
  approved_by_committer: 'high',
  approved_by_insufficient_users: 'medium',
} as const;
type Reason = keyof typeof severities;

const Reason = Type.Enum(Object.keys(severities) as Reason[]);

const ComplianceViolation = resource('ComplianceViolation', {
  id: Id,
  reason: Reason,
  severity: Type.Enum(['high', 'medium']),
  merge_request: Type.Object({
    id: Id,
    iid: Type.Integer(),
    project_id: Id,
    title: Type.String(),
    web_url: Type.String(),
  }),
  violating_user: nullable(UserBasic),
  merged_at: Timestamp,
});

interface Row {
  id: number;
  reason: Reason;
  merged_at: string;
  merge_request: { id: number; iid: number; project_id: number; title: string; full_path: string };
  user: UserBasicRow | null;
}

const present = (url: string, { reason, merge_request: { full_path, ...merged }, user, ...row }: Row) => ({
  ...row,
  reason,
  severity: severities[reason],
  merge_request: { ...merged, web_url: url + mergeRequestKind.page(full_path, merged.iid) },
  violating_user: user && presentUserBasic(url, user),
});

export const complianceViolationRoutes = [
  get('/groups/:id/compliance_violations', {
    operation: 'listComplianceViolations',
    summary: 'List merge requests of a group that were merged in spite of their approvals, the latest first',
    access: groupRole('reporter'),
    plan: 'ultimate',
    input: {
      ...keysetPaging,
      created_after: optional(Timestamp),
      created_before: optional(Timestamp),
      project_id: optional(Id),
      reason: optional(Reason),
    },
    returns: pageOf(ComplianceViolation),
    handle: async ({ db, url, caller, group, input }) => {
      const { created_after, created_before, project_id, reason } = input;
      const query = db
        .selectFrom('compliance_violations')
        .innerJoin('merge_requests', 'merge_requests.id', 'compliance_violations.merge_request_id')
        .innerJoin('projects', 'projects.id', 'compliance_violations.project_id')
        .select(['compliance_violations.id', 'compliance_violations.reason', 'compliance_violations.merged_at'])
        .select(
          sql<Row['merge_request']>`
            json_build_object('id', merge_requests.id, 'iid', merge_requests.iid, 'project_id', projects.id, 'title', merge_requests.title,
                              'full_path', projects.full_path)`.as('merge_request'),
        )
        .select(
          sql<UserBasicRow | null>`
            (select ${userBasicJson('users')} from users where users.id = compliance_violations.violating_user_id)`.as(
            'user',
          ),
        )
        .where(
          sql<boolean>`exists (select from namespaces place where place.id = projects.namespace_id and place.traversal_ids @> ${[group.id]}::bigint[])`,
        )
        .where(isVisibleProject(caller))
        .$if(created_after !== undefined, (q) => q.where('compliance_violations.merged_at', '>=', created_after!))
        .$if(created_before !== undefined, (q) => q.where('compliance_violations.merged_at', '<=', created_before!))
        .$if(project_id !== undefined, (q) => q.where('compliance_violations.project_id', '=', project_id!))
        .$if(reason !== undefined, (q) => q.where('compliance_violations.reason', '=', reason!))
        .orderBy('compliance_violations.id', 'desc')
        .$castTo<Row>();
      return mapPage(await paginate(db, query, input), (row) => present(url, row));
    },
  }),
];
