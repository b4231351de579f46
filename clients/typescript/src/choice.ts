import type * as api from './wire/api.js';

/** An answer to choose from: what is recorded when it is chosen, or that with what people read. */
export type ChoiceOption = string | { readonly value: string; readonly label?: string; readonly description?: string };

/** Says all of it. People read the value where there is no label. */
export function choiceOf(option: ChoiceOption): api.EventChoice {
  const { value, label = value, description = '' } = typeof option === 'string' ? ({ value: option } as Exclude<ChoiceOption, string>) : option;
  return { value, label, description };
}
