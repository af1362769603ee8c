/** The limits of custom attributes. Pure functions. */
import { tooLong } from '../../../texts/index.ts';

/** The reasons against a key. */
export const keyReasons = (key: string): string[] => tooLong(key, 255);

/** The reasons against a value. */
export const valueReasons = (value: string): string[] =>
  value.trim() === '' ? ["can't be blank"] : tooLong(value, 4096);
