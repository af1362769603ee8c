/** The parameters of the list of epics (docs/reference/epics.md). */
import { type Static, type TObject, Type } from 'typebox';
import { allOptional, CommaList, Id, mutuallyExclusive, type Rule, Timestamp } from '../../../http/index.ts';

/** The filters that both the list and its `not` accept. */
const either = () => allOptional({ labels: CommaList(Type.String()), author_id: Id, author_username: Type.String() });

const epicFilters = {
  ...either(),
  ...allOptional({
    search: Type.String({
      maxLength: 4096,
      description: 'Words or "phrases" that must all occur in the title or description',
    }),
    created_after: Timestamp,
    created_before: Timestamp,
    updated_after: Timestamp,
    updated_before: Timestamp,
    my_reaction_emoji: Type.String({ description: "The caller's reaction: the name of an emoji, `None` or `Any`" }),
    confidential: Type.Boolean(),
    not: Type.Object(either(), { description: 'Filters whose matches are excluded' }),
  }),
  state: Type.Enum(['opened', 'closed', 'all'], { default: 'all' }),
};

export const epicListInput = {
  ...epicFilters,
  with_labels_details: Type.Boolean({ default: false }),
  order_by: Type.Enum(['created_at', 'updated_at', 'title'], { default: 'created_at' }),
  sort: Type.Enum(['asc', 'desc'], { default: 'desc' }),
  include_ancestor_groups: Type.Boolean({ default: false }),
  include_descendant_groups: Type.Boolean({ default: true }),
};

export const epicListRules: readonly Rule[] = [
  mutuallyExclusive('author_id', 'author_username'),
  mutuallyExclusive('not[author_id]', 'not[author_username]'),
];

/** Filters as given. */
export type EpicFilters = Static<TObject<typeof epicFilters>>;
export type EpicListInput = Static<TObject<typeof epicListInput>>;
