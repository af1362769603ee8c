/** Types of searches: scopes, places and input. */
import type { Static, TObject, TSchema } from 'typebox';
import type { Group, Project } from '../../../access/index.ts';
import type { Caller, FormedPage, Plan, Services } from '../../../http/index.ts';
import type { searchInput } from './parameters.ts';

export type Level = 'global' | 'group' | 'project';

/** The place of a search: everywhere, in a group and everything below it, or in a project. */
export type Within = { everywhere: true } | { group: Group } | { project: Project };

export type SearchInput = Static<TObject<typeof searchInput>>;

export interface Search {
  caller: Caller;
  plan: Plan;
  within: Within;
  input: SearchInput;
}

/** A kind of results of a search. */
export interface Scope {
  levels: readonly Level[];
  /** The schemas of its results. */
  forms: readonly TSchema[];
  /**
   * Refuses a search in a project in which the caller may not read such results.
   * @throws ApiError 403
   */
  check?(project: Project): void;
  find(services: Services, search: Search): Promise<FormedPage<unknown>>;
  /** Whether `find` ends by itself at the time limit of a search, with partial results. */
  ends_itself?: true;
}

/** A page of results of one schema. */
export const formed = <S extends TSchema>(form: S, page: Omit<FormedPage<Static<S>>, 'form'>): FormedPage<unknown> => ({
  ...page,
  form,
});
