/** What may be given for a CI/CD variable: reasons why it is refused, empty when it is fine. */
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

/** Whether the output of a job can be searched for a value: one line, and not so short that it stands everywhere. */
export const isMaskable = (value: string): boolean => /^[\w+=/@:.~-]{8,}$/.test(value);
