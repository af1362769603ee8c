/** What is searched, and for what. */
import type { Static, TObject, TSchema } from 'typebox';
import type { Group, Project } from '../../../access/index.ts';
import type { Caller, FormedPage, Plan, Services } from '../../../http/index.ts';
import type { searchInput } from './parameters.ts';

export type Level = 'global' | 'group' | 'project';

/** Where a search looks: everywhere, in a group and what is below it, or in a project. */
export type Within = { everywhere: true } | { group: Group } | { project: Project };

export type SearchInput = Static<TObject<typeof searchInput>>;

export interface Search {
  caller: Caller;
  plan: Plan;
  within: Within;
  input: SearchInput;
}

/** Things of one kind, which a search finds. */
export interface Scope {
  levels: readonly Level[];
  /** The forms of what it replies with. */
  forms: readonly TSchema[];
  /**
   * Refuses the search of a project in which the caller may not read such things.
   * @throws ApiError 403
   */
  check?(project: Project): void;
  find(services: Services, search: Search): Promise<FormedPage<unknown>>;
  /** Whether `find` ends by itself when the time for a search is over, with what it has found. */
  ends_itself?: true;
}

/** A page of things of one form. */
export const formed = <S extends TSchema>(form: S, page: Omit<FormedPage<Static<S>>, 'form'>): FormedPage<unknown> => ({
  ...page,
  form,
});
