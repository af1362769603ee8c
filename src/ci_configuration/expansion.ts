/** Variables within texts and within other variables (docs/reference/ci_configuration.md#expansion). Pure functions. */

/** A variable of a pipeline or of a job. */
export interface CiVariable {
  key: string;
  value: string;
  /** Whether `$` in the value is text. */
  raw?: boolean;
  /** Whether the job gets the path of a file with the value. It is no part of other values: only the runner knows the path. */
  file?: boolean;
  /** Whether logs must not show the value. */
  masked?: boolean;
}

/** Variables by key. */
export type Variables = ReadonlyMap<string, CiVariable>;

/** Two signs are one that begins no name. */
const reference = /\$\$|\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\}|%([A-Za-z_]\w*)%/g;

/** The value of a variable that is expanded, as it is compared and shown. */
const plainValue = ({ value, raw }: CiVariable): string => (raw ? value : value.replaceAll('$$', '$'));

/**
 * A text with the values of variables in it. Those that are not there are empty.
 * @param variables whose own values are expanded
 */
export const expand = (text: string, variables: Variables): string =>
  text.replaceAll(reference, (whole, plain, braced, percent) => {
    if (whole === '$$') return '$';
    const variable = variables.get(plain ?? braced ?? percent);
    return variable ? plainValue(variable) : '';
  });
