/** Epics as a noun: its description for the engines of comments, mail and to-do items (docs/adding_a_noun.md). */
import { sql } from 'kysely';
import { epicKind, groupOf } from '../../../access/index.ts';
import {
  commonCommands,
  confidentialityCommands,
  epicTreeCommands,
  labelCommands,
} from '../../conversation/quick_actions/index.ts';
import type { Noun } from '../issuables/definition.ts';
import { issuableMail } from '../issuables/mail_queries.ts';
import { epicOperations } from './command_actions.ts';
import { Epic, presentEpics, presentSingleEpic } from './present.ts';

export const epicNoun = {
  kind: epicKind,
  mail: issuableMail(epicKind),
  schema: Epic,
  present: presentEpics,
  presentSingle: (services, caller, on) =>
    presentSingleEpic(services, caller, { id: on.id, group_id: groupOf(on.in).id }),
  events: ['label', 'state'],
  quickActions: {
    commands: [...commonCommands, ...confidentialityCommands, ...labelCommands, ...epicTreeCommands],
    operations: epicOperations,
    state: (epic_id) => sql`select state, confidential, parent_id from epics where id = ${epic_id}`,
  },
} satisfies Noun;
