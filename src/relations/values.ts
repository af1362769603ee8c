/** The values of members: how a column leaves as JSON, and which JSON may become a value of the column. */
import { type RawBuilder, sql } from 'kysely';
import { momentInJson } from '../db/index.ts';

/** A record, or a member of it, that is refused. The message is a sentence without a subject: `is invalid`. */
export class Refusal extends Error {
  override name = 'Refusal';
}

/** What a column holds. */
export interface Value {
  /** The type of the column. */
  type: 'text' | 'boolean' | 'integer' | 'bigint' | 'double precision' | 'timestamptz' | 'date' | 'jsonb' | 'text[]';
  /** Whether it is a text by a user, whose references are rewritten to the objects here. */
  is_markdown?: true;
  /** The column as JSON; as it is if left out. */
  leaves?(column: string): RawBuilder<unknown>;
  /**
   * The value of the column.
   * @param value not null
   * @throws Refusal
   */
  arrives(value: unknown): unknown;
}

/** The reasons against a value, as the parameters of the API give them. */
type Reasons = (value: string) => readonly string[];

/** Whether it is a text that PostgreSQL accepts: one without NUL and half characters. */
export const isText = (value: unknown): value is string =>
  typeof value === 'string' && !value.includes('\0') && value.isWellFormed();

function asText(value: unknown, reasons: Reasons | undefined): string {
  if (!isText(value)) throw new Refusal('is invalid');
  const [reason] = reasons?.(value) ?? [];
  if (reason !== undefined) throw new Refusal(reason);
  return value;
}

export const text = (reasons?: Reasons): Value => ({ type: 'text', arrives: (value) => asText(value, reasons) });

/** A text that is stored in another spelling. */
export const spelled = (reasons: Reasons, spelling: (value: string) => string): Value => ({
  type: 'text',
  arrives: (value) => spelling(asText(value, reasons)),
});

/** A text in Markdown. */
export const markdown = (reasons?: Reasons): Value => ({ ...text(reasons), is_markdown: true });

/** One of a few texts. */
export const choice = (...texts: readonly string[]): Value => ({
  type: 'text',
  arrives: (value) => {
    if (!texts.includes(value as string)) throw new Refusal('does not have a valid value');
    return value;
  },
});

/** One of a few whole numbers. */
export const choiceOf = (...numbers: readonly number[]): Value => ({
  type: 'integer',
  arrives: (value) => {
    if (!numbers.includes(value as number)) throw new Refusal('does not have a valid value');
    return value;
  },
});

/** A text or number that stands for another one in the public format. */
export function coded(type: Value['type'], codes: Readonly<Record<string, string | number>>): Value {
  const stored = new Map(Object.entries(codes).map(([here, there]) => [there, here]));
  return {
    type,
    leaves: (column) => {
      const cases = Object.entries(codes).map(([here, there]) => sql`when ${sql.lit(here)} then ${sql.lit(there)}`);
      return sql`case ${sql.ref(column)} ${sql.join(cases, sql` `)} end`;
    },
    arrives: (value) => {
      const found = stored.get(value as string | number);
      if (found === undefined) throw new Refusal('does not have a valid value');
      return found;
    },
  };
}

export const flag: Value = {
  type: 'boolean',
  arrives: (value) => {
    if (typeof value !== 'boolean') throw new Refusal('is invalid');
    return value;
  },
};

const maximumInteger = 2 ** 31 - 1;

/** A whole number, at least `least` and at most the largest value of the column. */
export const integer = (least = -maximumInteger, most = maximumInteger): Value => ({
  type: 'integer',
  arrives: (value) => {
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
      throw new Refusal('is invalid');
    return value;
  },
});

/** A whole number of any size that JSON holds exactly. */
export const long: Value = {
  type: 'bigint',
  arrives: (value) => {
    if (!Number.isSafeInteger(value)) throw new Refusal('is invalid');
    return value;
  },
};

export const real: Value = {
  type: 'double precision',
  arrives: (value) => {
    if (typeof value !== 'number') throw new Refusal('is invalid');
    return value;
  },
};

const earliest = Date.parse('0001-01-01T00:00:00Z');
const latest = Date.UTC(9999, 11, 31);

export const time: Value = {
  type: 'timestamptz',
  leaves: momentInJson,
  arrives: (value) => {
    const moment = typeof value === 'string' && value.length <= 64 ? Date.parse(value) : Number.NaN;
    if (!(moment >= earliest && moment <= latest)) throw new Refusal('is invalid');
    return new Date(moment).toISOString();
  },
};

export const day: Value = {
  type: 'date',
  arrives: (value) => {
    const parsed =
      typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T00:00:00Z`) : undefined;
    if (
      !parsed ||
      Number.isNaN(parsed.getTime()) ||
      !parsed.toISOString().startsWith(value as string) ||
      parsed.getTime() < earliest
    )
      throw new Refusal('is invalid');
    return value;
  },
};

/** The id of a commit. */
export const sha: Value = text((value) => (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value) ? [] : ['is invalid']));

/** Texts, at most 100. */
export const texts = (reasons?: Reasons): Value => ({
  type: 'text[]',
  arrives: (value) => {
    if (!Array.isArray(value) || value.length > 100) throw new Refusal('is invalid');
    return value.map((entry) => asText(entry, reasons));
  },
});
