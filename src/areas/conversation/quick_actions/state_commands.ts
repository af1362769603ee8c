/** Commands on the state of an item, and on the caller's relation to it. */
import { levels } from '../../../access/index.ts';
import { addTodo, doneTodos, hasTodo } from '../../activity/todos/index.ts';
import type { Definition, Situation } from './definition.ts';

const maximumTitle = 255;

function setState(situation: Situation, event: 'close' | 'reopen'): string {
  situation.changes.state_event = event;
  situation.commands_changes.state_event = event;
  return `${event === 'close' ? 'Closed' : 'Reopened'} this ${situation.kind}.`;
}

/** The state after the commands. */
const stateAfter = ({ before, changes }: Situation) =>
  changes.state_event === undefined ? before.state : changes.state_event === 'close' ? 'closed' : 'opened';

function setLock(situation: Situation, discussion_locked: boolean): string | undefined {
  if ((situation.before.discussion_locked ?? false) === discussion_locked) return undefined;
  situation.changes.discussion_locked = discussion_locked;
  situation.commands_changes.discussion_locked = discussion_locked;
  return discussion_locked ? 'Locked the discussion.' : 'Unlocked the discussion.';
}

function setSubscription(situation: Situation, subscribed: boolean) {
  const { subscribe } = situation.operations;
  if (!subscribe) return undefined;
  return async () => {
    await subscribe(subscribed);
    situation.commands_changes.subscription_event = subscribed ? 'subscribe' : 'unsubscribe';
    return subscribed ? 'Subscribed to notifications.' : 'Unsubscribed from notifications.';
  };
}

/** The commands that every noun supports. */
export const commonCommands: readonly Definition[] = [
  {
    names: ['close'],
    needs: 'edit',
    existing: true,
    apply: (situation) => (stateAfter(situation) === 'opened' ? setState(situation, 'close') : undefined),
  },
  {
    names: ['reopen'],
    needs: 'edit',
    existing: true,
    apply: (situation) => {
      const isKeptShut = situation.before.discussion_locked === true && situation.on.access_level < levels.guest;
      return stateAfter(situation) === 'closed' && !isKeptShut ? setState(situation, 'reopen') : undefined;
    },
  },
  {
    names: ['title'],
    needs: 'edit',
    existing: true,
    apply: ({ changes, commands_changes }, title) => {
      if (title === '' || [...title].length > maximumTitle) return undefined;
      changes.title = title;
      commands_changes.title = title;
      return `Changed the title to "${title}".`;
    },
  },
  {
    names: ['todo'],
    needs: 'read',
    existing: true,
    // After the edits, which resolve the caller's to-do items.
    apply: (situation) => async () => {
      const { tx, caller, on: target, commands_changes } = situation;
      const added = await addTodo(tx, { user_id: caller.id, author_id: caller.id, action: 'marked', target });
      if (added === undefined) return undefined;
      commands_changes.todo_event = 'add';
      return 'Added a to-do item.';
    },
  },
  {
    names: ['done'],
    needs: 'read',
    existing: true,
    apply: async (situation) => {
      const { tx, caller, on } = situation;
      if (!(await hasTodo(tx, on, caller.id))) return undefined;
      return async () => {
        await doneTodos(tx, on, caller.id);
        situation.commands_changes.todo_event = 'done';
        return 'Marked to-do item as done.';
      };
    },
  },
  { names: ['subscribe'], needs: 'read', existing: true, apply: (situation) => setSubscription(situation, true) },
  { names: ['unsubscribe'], needs: 'read', existing: true, apply: (situation) => setSubscription(situation, false) },
  {
    names: ['react', 'award'],
    needs: 'read',
    existing: true,
    apply: (situation, argument) => {
      const { toggleAward } = situation.operations;
      const name = /^:?([\w+-]+):?$/.exec(argument)?.[1];
      if (name === undefined || !toggleAward) return undefined;
      return async () => {
        if (!(await toggleAward(name))) return undefined;
        situation.commands_changes.emoji_award = name;
        return `Toggled :${name}: emoji reaction.`;
      };
    },
  },
];

/** Commands for nouns that can be confidential. */
export const confidentialityCommands: readonly Definition[] = [
  {
    names: ['confidential'],
    needs: 'plan',
    apply: ({ before, changes, commands_changes, kind }) => {
      if (before.confidential) return undefined;
      changes.confidential = true;
      commands_changes.confidential = true;
      return `Made this ${kind} confidential.`;
    },
  },
];

export const lockCommands: readonly Definition[] = [
  { names: ['lock'], needs: 'plan', existing: true, apply: (situation) => setLock(situation, true) },
  { names: ['unlock'], needs: 'plan', existing: true, apply: (situation) => setLock(situation, false) },
];

export const stateCommands: readonly Definition[] = [...commonCommands, ...confidentialityCommands, ...lockCommands];
