/** List parameters shared by several nouns. */
import { type TProperties, Type } from 'typebox';
import { allOptional, CommaList, Id, mutuallyExclusive, type Rule, Timestamp } from '../../../http/index.ts';

/** An ID or one of some keywords, which the filter tells apart. */
export const IdOr = (words: string) => Type.String({ description: `An ID, ${words}` });

export const MilestoneTitle = () => Type.String({ description: 'A title, `None` or `Any`' });

/** The filters of every list, and of every `not`. */
export const authorFilters = () =>
  allOptional({ labels: CommaList(Type.String()), author_id: Id, author_username: Type.String() });

export const reactionFilter = () =>
  allOptional({
    my_reaction_emoji: Type.String({ description: "The caller's reaction: the name of an emoji, `None` or `Any`" }),
  });

/** The filters by times. */
export const timeFilters = () =>
  allOptional({
    created_after: Timestamp,
    created_before: Timestamp,
    updated_after: Timestamp,
    updated_before: Timestamp,
  });

/** The filters by text. */
const searchFilters = () =>
  allOptional({
    search: Type.String({ maxLength: 4096, description: 'Words or "phrases" that must all occur' }),
    in: Type.String({ description: 'Fields to search: `title`, `description` or both, separated by a comma' }),
  });

/**
 * The filters shared by issues and merge requests.
 * @param either the filters that both a list and its `not` accept
 */
export const filtersWith = <E extends TProperties>(either: () => E) => ({
  ...either(),
  ...reactionFilter(),
  ...timeFilters(),
  ...searchFilters(),
  ...allOptional({
    release_tag: Type.String({ description: 'Of a release to which their milestone belongs, `None` or `Any`' }),
    not: Type.Object(either(), excludedDescription),
  }),
});

export const excludedDescription = { description: 'Filters whose matches are excluded' };

/** Pairs of mutually exclusive filters, also in `not`. */
export const exclusiveRules = (pairs: readonly (readonly [string, string])[]): Rule[] => [
  ...pairs.map((names) => mutuallyExclusive(...names)),
  ...pairs.map((names) => mutuallyExclusive(...names.map((name) => `not[${name}]`))),
];
