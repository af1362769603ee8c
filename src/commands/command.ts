import type { ParseArgsConfig } from 'node:util';
import type { Config } from '../config.ts';

/** What may be given on the command line: its options as text or as a switch. */
export interface Given {
  text: { [option: string]: string | undefined };
  switches: { [option: string]: boolean | undefined };
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
