/** The settings of a project from the relation `self`. Pure functions. */

import { ApiError, inputReader, type Plan } from '../../../../http/index.ts';
import { columnsOfSettings, type NewProject, projectSettings } from '../../../spaces/projects/index.ts';
import { type Self, textIn } from '../source/self_queries.ts';

const levels: Readonly<Record<number, string>> = { 0: 'disabled', 10: 'private', 20: 'enabled' };

/** Renames the source's settings to the names of our own parameters. */
function named(self: Self): Self {
  const levelled = Object.entries(self).map(([name, value]) =>
    name.endsWith('_access_level') && typeof value === 'number' ? [name, levels[value]] : [name, value],
  );
  const { merge_requests_ff_only_enabled: ff, merge_requests_rebase_enabled: rebase } = self;
  const merge_method = ff === true ? 'ff' : rebase === true ? 'rebase_merge' : 'merge';
  const flags = ff === undefined && rebase === undefined ? {} : { merge_method };
  return { ...flags, ...Object.fromEntries(levelled), description: textIn(self, 'description', 2000) ?? null };
}

const readers = Object.entries(projectSettings).map(([name, schema]) => ({
  name,
  read: inputReader({ input: { [name]: schema } }),
}));

/** A setting, if our own API would accept its value. */
function accepted({ name, read }: (typeof readers)[number], given: Self, plan: Plan): object {
  if (given[name] === undefined) return {};
  try {
    return read({ [name]: given[name] }, plan);
  } catch (error) {
    if (error instanceof ApiError) return {};
    throw error;
  }
}

/** The columns of a new project, from the settings that our own API would accept. */
export function projectColumns(self: Self, plan: Plan): NonNullable<NewProject['columns']> {
  const given = named(self);
  return columnsOfSettings(Object.assign({}, ...readers.map((reader) => accepted(reader, given, plan))), {
    is_admin: false,
  });
}
