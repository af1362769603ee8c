/** The parameters of the list of epics (docs/reference/epics.md). */
import { type Static, type TObject, Type } from 'typebox';
import { allOptional, type Rule } from '../../../http/index.ts';
import {
  authorFilters,
  excludedDescription,
  exclusiveRules,
  reactionFilter,
  timeFilters,
} from '../issuables/list_parameters.ts';

const epicFilters = {
  ...authorFilters(),
  ...timeFilters(),
  ...reactionFilter(),
  ...allOptional({
    search: Type.String({
      maxLength: 4096,
      description: 'Words or "phrases" that must all occur in the title or description',
    }),
    confidential: Type.Boolean(),
    not: Type.Object(authorFilters(), excludedDescription),
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

export const epicListRules: readonly Rule[] = exclusiveRules([['author_id', 'author_username']]);

/** Filters, order and form as given. */
export type EpicListInput = Static<TObject<typeof epicListInput>>;
