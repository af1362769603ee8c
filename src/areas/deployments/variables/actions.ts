/** Adding and changing CI/CD variables. */
import type { Owner } from '../../../access/index.ts';
import { type Database, isUniqueViolation, takeTurn } from '../../../db/index.ts';
import { invalid, type Services } from '../../../http/index.ts';
import { type VariableRow, valuePurpose, variableOf, variablesOf } from './queries.ts';
import { isMaskable } from './rules.ts';

/** The most variables that a project, a group or the instance can have. */
const maximumVariables = 8000;

export const refusedTexts = {
  many: `Maximum number of CI/CD variables (${maximumVariables}) exceeded`,
  hidden: 'The visibility setting cannot be changed for hidden variables.',
};

export interface VariableChanges {
  variable_type?: string;
  key?: string;
  value?: string;
  protected?: boolean;
  masked?: boolean;
  raw?: boolean;
  environment_scope?: string;
  description?: string | null;
}

type NewVariable = VariableChanges & { key: string; value: string; masked_and_hidden?: boolean };

/** @throws ApiError 400 if another variable has the key and the scope */
async function write(key: string, statement: Promise<unknown>): Promise<void> {
  try {
    await statement;
  } catch (error) {
    if (isUniqueViolation(error, 'variables_key')) throw invalid({ key: [`(${key}) has already been taken`] });
    throw error;
  }
}

const refuseUnmaskable = (value: string): void => {
  if (!isMaskable(value)) throw invalid({ value: ['is invalid'] });
};

/** Serialises additions, so that two concurrent ones cannot exceed the limit together. */
async function refuseTooMany(tx: Database, owner: Owner): Promise<void> {
  const name = `variables ${owner.project_id ?? ''} ${owner.group_id ?? ''}`;
  await takeTurn(tx, name);
  const rows = variablesOf(tx, owner).clearSelect().clearOrderBy().select('id').limit(maximumVariables);
  if ((await rows.execute()).length >= maximumVariables) throw invalid({ base: [refusedTexts.many] });
}

/**
 * Adds a variable.
 * @throws ApiError 400 by field
 */
export function addVariable(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  owner: Owner,
  { masked_and_hidden: hidden = false, ...given }: NewVariable,
): Promise<VariableRow> {
  return db.transaction().execute(async (tx) => {
    const masked = hidden || given.masked === true;
    if (masked) refuseUnmaskable(given.value);
    await refuseTooMany(tx, owner);
    const { project_id, group_id } = owner;
    const row = { ...given, project_id, group_id, masked, hidden, value: secrets.seal(valuePurpose, given.value) };
    await write(given.key, tx.insertInto('variables').values(row).execute());
    return variableOf(tx, owner, { key: given.key, scope: given.environment_scope ?? '*' });
  });
}

/**
 * Changes the given attributes of a variable.
 * @throws ApiError 400 by field, 404, 409 if the key exists in several scopes
 */
export function changeVariable(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  owner: Owner,
  which: { key: string; scope: string | undefined },
  { value, ...changes }: Omit<VariableChanges, 'key'>,
): Promise<VariableRow> {
  return db.transaction().execute(async (tx) => {
    const { id } = await variableOf(tx, owner, which);
    const before = await tx
      .selectFrom('variables')
      .select(['key', 'value', 'masked', 'hidden', 'environment_scope'])
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const masked = changes.masked ?? before.masked;
    if (before.hidden && !masked) throw invalid({ base: [refusedTexts.hidden] });
    // A value that cannot be decrypted has to be set again.
    if (masked) refuseUnmaskable(value ?? secrets.unseal(valuePurpose, before.value) ?? '');
    const row = {
      ...changes,
      ...(value === undefined ? {} : { value: secrets.resealed(valuePurpose, before.value, value) }),
    };
    if (Object.keys(row).length > 0)
      await write(before.key, tx.updateTable('variables').set(row).where('id', '=', id).execute());
    return variableOf(tx, owner, { key: before.key, scope: changes.environment_scope ?? before.environment_scope });
  });
}
