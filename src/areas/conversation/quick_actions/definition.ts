/** What a command is. */
import type { Plan } from '../../../http/index.ts';
import type { Right, Situation } from './situation.ts';

/** What is said of a command that was applied; undefined where it cannot be. */
export type Said = string | undefined;

/** What is said of an edit that is asked for, or the work that is no edit: it comes after them, and then says it. */
export type Outcome = Said | (() => Promise<Said>);

export interface Definition {
  /** The first is what it is called in messages. */
  names: readonly [string, ...string[]];
  on: readonly Situation['kind'][];
  needs: Right;
  plan?: Plan;
  /** Whether it means nothing to what is only being created. */
  existing?: true;
  /**
   * Asks for an edit, by `changes` and `commands_changes`, or hands back other work.
   * @param argument the rest of the line
   */
  apply(situation: Situation, argument: string): Outcome | Promise<Outcome>;
}

/** Names in a sentence, as `a, b, and c`. */
export const listed = new Intl.ListFormat('en', { type: 'conjunction' });
