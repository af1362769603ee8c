/** The parameters of lists of merge requests (docs/reference/merge_requests.md#lists). */
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import {
  allOptional,
  CommaList,
  Id,
  Iid,
  mutuallyExclusive,
  optional,
  type Rule,
  since,
} from '../../../../http/index.ts';
import {
  authorFilters,
  exclusiveRules,
  filtersWith,
  IdOr,
  MilestoneTitle,
  reactionFilter,
} from '../../issuables/list_parameters.ts';
import { orderNames } from './order_rules.ts';

const PersonId = () => IdOr('`None` or `Any`');

/** The filters that both a list and its `not` accept. */
const either = () => ({
  ...authorFilters(),
  ...reactionFilter(),
  ...allOptional({
    milestone: MilestoneTitle(),
    assignee_id: PersonId(),
    assignee_username: CommaList(Type.String()),
    reviewer_id: PersonId(),
    reviewer_username: Type.String(),
  }),
});

const exclusions = [
  ['author_id', 'author_username'],
  ['assignee_id', 'assignee_username'],
  ['reviewer_id', 'reviewer_username'],
] as const;

export const listRules: readonly Rule[] = [
  ...exclusiveRules(exclusions),
  mutuallyExclusive('merge_user_id', 'merge_user_username'),
  mutuallyExclusive('approved_by_ids', 'approved_by_usernames'),
];

const approvers = (description: string) => CommaList(Type.String({ description }));

/** The filters, order and form of the lists, without `scope`, `non_archived` and `iids`. */
export const listFilters = {
  ...filtersWith(either),
  ...allOptional({
    merge_user_id: Id,
    merge_user_username: Type.String(),
    source_branch: Type.String(),
    target_branch: Type.String(),
    source_project_id: Id,
    draft: Type.Boolean(),
    wip: Type.Enum(['yes', 'no'], { description: 'Whether they are drafts' }),
    deployed_before: Type.String({ format: 'date-time', description: 'Whose deployment ended before it' }),
    deployed_after: Type.String({ format: 'date-time', description: 'Whose deployment ended after it' }),
    environment: Type.String({ description: 'That were deployed to the environment of this name' }),
    approved: Type.Enum(['yes', 'no'], { description: 'Whether at least one user has approved them' }),
    approved_by_ids: since('premium', approvers('Who have all approved: IDs, `None` or `Any`')),
    approved_by_usernames: since('premium', approvers('Who have all approved: usernames')),
    approver_ids: since('premium', approvers('Whom rules of approvals name: IDs, `None` or `Any`')),
  }),
  state: Type.Enum(['opened', 'closed', 'locked', 'merged', 'all'], { default: 'all' }),
  order_by: Type.Enum(orderNames, { default: 'created_at' }),
  sort: Type.Enum(['asc', 'desc'], { default: 'desc' }),
  with_labels_details: Type.Boolean({ default: false }),
  with_merge_status_recheck: Type.Boolean({
    default: false,
    description: 'Has no effect: the status is kept up to date',
  }),
  view: optional(Type.Enum(['simple'], { description: 'Only the basic fields' })),
};

const scopes = [
  ...(['created_by_me', 'assigned_to_me', 'reviews_for_me', 'all'] as const),
  ...(['created-by-me', 'assigned-to-me', 'reviews-for-me'] as const),
];

/** The scope of merge requests to list; defaults to all. */
export const anyScope = { scope: optional(Type.Enum([...scopes])) };
/** The same; defaults to the caller's own. */
export const ownScope = { scope: Type.Enum([...scopes], { default: 'created_by_me' }) };
export const numbered = { iids: optional(CommaList(Iid)) };
export const nonArchived = {
  non_archived: Type.Boolean({ default: true, description: 'Exclude merge requests of archived projects' }),
};

type Given<P extends TProperties> = Partial<Static<TObject<P>>>;
/** The given filters; a list with fewer filters omits the others. */
export type MergeRequestFilters = Given<typeof listFilters> &
  Given<typeof anyScope> &
  Given<typeof numbered> &
  Given<typeof nonArchived>;
export type Excluded = NonNullable<MergeRequestFilters['not']>;
