/** How push rules leave and arrive (docs/reference/relations_export.md#push_rule). */
import { sql } from 'kysely';
import { ApiError } from '../../../http/index.ts';
import {
  column,
  columnOr,
  flag,
  integer,
  type Members,
  type RecordKind,
  type Relation,
  required,
  shown,
  text,
  time,
} from '../../../relations/index.ts';
import { checkExpressions } from './actions.ts';
import { lengthReasons, type RuleChanges, regexNames, ruleNames } from './rules.ts';

const member = (name: (typeof ruleNames)[number]) => {
  if (name === 'max_file_size') return columnOr(name, integer(0), 0);
  const maximumLength = name === 'commit_message_negative_regex' ? 2047 : 511;
  return (regexNames as readonly string[]).includes(name)
    ? column(name, text(lengthReasons(maximumLength)))
    : columnOr(name, flag, false);
};

const members: Members = {
  ...Object.fromEntries(ruleNames.map((name) => [name, member(name)])),
  regexp_uses_re2: shown(sql`true`),
  created_at: required('created_at', time),
  updated_at: required('updated_at', time),
};

/** @returns why the expressions of a rule are refused */
async function refusalOf(rule: RuleChanges): Promise<string | undefined> {
  try {
    await checkExpressions(rule);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return JSON.stringify(error.body.message);
    throw error;
  }
}

const pushRule: RecordKind = {
  table: 'push_rules',
  owner: { project: 'project_id', group: 'group_id' },
  members,
  stays: {},
  derives: {
    columns: {},
    derive: async (rows) => {
      const [first] = rows;
      const reason = first && (await refusalOf(first.row as RuleChanges));
      return reason === undefined ? undefined : new Map([[first!, reason]]);
    },
  },
};

/** The push rule of a project or group itself, if it has one. */
export const pushRules: Relation = { name: 'push_rule', kind: pushRule, plan: 'premium' };
