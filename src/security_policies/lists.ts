/** Shapes of lists and of their items, with limits. */
import { filledText, mapped, type Place, type Shape } from '../ci_configuration/shapes/shape.ts';
import { isList, type Mapping } from '../ci_configuration/values.ts';

const maximumWord_chars = 255;

/** Whether a mapping has a member, right or wrong. */
export const isGiven = (mapping: Mapping, key: string): boolean => (mapping.get(key) ?? null) !== null;

/** A name, which is not empty and not long. */
export const word: Shape<string> = mapped(filledText, (read, at) =>
  read.length > maximumWord_chars ? at.fault(`is too long (maximum is ${maximumWord_chars} characters)`) : read,
);

/**
 * The items of a list, each of one shape. Each item that is wrong is reported.
 * @param placeOf where an item is, by its number from 1; by default at the place of the list
 */
export const listOf =
  <T>(item: Shape<T>, maximum: number, placeOf = (list: Place, _number: number): Place => list): Shape<readonly T[]> =>
  (value, at) => {
    if (!isList(value)) return at.fault('should be a list');
    if (value.length > maximum) return at.fault(`has too many entries (maximum ${maximum.toLocaleString('en')})`);
    const read = value.map((each, index) => item(each, placeOf(at, index + 1)));
    return read.every((each) => each !== undefined) ? (read as readonly T[]) : undefined;
  };

/** The same for items that errors speak of by their numbers. */
export const numbered = <T>(item: Shape<T>, maximum: number): Shape<readonly T[]> =>
  listOf(item, maximum, (list, number) => list.entry(String(number)));
