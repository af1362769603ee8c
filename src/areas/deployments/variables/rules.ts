/** Validation of CI/CD variables: the reasons for refusing a value, empty if it is valid. */
import { tooLong } from '../../../texts/index.ts';

const maximumLengths = { key: 255, value_bytes: 10_000, environment_scope: 255, description: 255 };

export const keyReasons = (key: string): string[] => [
  ...tooLong(key, maximumLengths.key),
  ...(/^\w+$/.test(key) ? [] : ["can contain only letters, digits and '_'."]),
];

export const valueReasons = (value: string): string[] =>
  Buffer.byteLength(value) > maximumLengths.value_bytes
    ? [`is too long (maximum is ${maximumLengths.value_bytes} bytes)`]
    : [];

export const scopeReasons = (scope: string): string[] =>
  scope.trim() === '' ? ["can't be blank"] : tooLong(scope, maximumLengths.environment_scope);

export const descriptionReasons = (description: string | null): string[] =>
  tooLong(description ?? '', maximumLengths.description);

/** Whether a value can be masked in job output: a single line, and long enough not to occur by chance. */
export const isMaskable = (value: string): boolean => /^[\w+=/@:.~-]{8,}$/.test(value);
