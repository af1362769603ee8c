import type { ParseArgsConfig } from 'node:util';
import type { Config } from '../config.ts';

/** What may be given on the command line: its options as text, as a switch, or several times. */
export interface Given {
  text: { [option: string]: string | undefined };
  switches: { [option: string]: boolean | undefined };
  lists: { [option: string]: string[] | undefined };
}

/** One thing that the executable does. */
export interface Command {
  /** One line for the overview. */
  summary: string;
  /** What `--help` prints below the summary. */
  help: string;
  options: NonNullable<ParseArgsConfig['options']>;
  /**
   * @returns the exit code
   * @throws UsageError for options that do not fit, and OperatorError for what the operator can put right
   */
  run(given: Given, config: Config): Promise<number>;
}

/** Wrong options; the program ends with code 2. */
export class UsageError extends Error {}

/** Something outside the program is in the way; the program ends with code 1 and this sentence. */
export class OperatorError extends Error {}

/**
 * The value of an option that must be given.
 * @throws UsageError when it is missing
 */
export function required(given: Given, option: string): string {
  const value = given.text[option];
  if (!value) throw new UsageError(`The option --${option} is missing.`);
  return value;
}

/**
 * @param text like `2027-01-01`
 * @throws UsageError when it is no day of the calendar
 */
export function readDay(text: string): string {
  const day = new Date(`${text}T00:00:00Z`);
  const isDay = /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  if (!isDay) throw new UsageError(`“${text}” is not a day like 2027-01-01.`);
  return text;
}
