//! Golden forms of the shapes that requests are made of.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use schemars::JsonSchema;

use crate::schema::{AnswerSchema, Dialect, check_limits};

/// Expects the schema of `T` in a dialect, followed by the limits that it breaks.
fn check<T: JsonSchema>(dialect: Dialect, expected: Expect) {
    let schema = AnswerSchema::from_type::<T>("shape", dialect);
    let mut text = serde_json::to_string_pretty(schema.value()).unwrap();
    for violation in check_limits(&schema) {
        text.push_str(&format!("\n! {violation}"));
    }
    expected.assert_eq(&text);
}

/// A person.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Person {
    /// What they are called.
    name: String,
    /// Where they live.
    home: Address,
    work: Address,
    nickname: Option<String>,
    /// Another place.
    holiday: Option<Address>,
    #[serde(default)]
    tags: Vec<String>,
}

/// A place.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Address {
    street: String,
}

#[test]
fn nested_structs_and_options_in_openai() {
    check::<Person>(
        Dialect::OpenAiStrict,
        expect![[r##"
        {
          "type": "object",
          "properties": {
            "name": {
              "type": "string",
              "description": "What they are called."
            },
            "home": {
              "description": "Where they live.\nA place.",
              "type": "object",
              "properties": {
                "street": {
                  "type": "string"
                }
              },
              "required": [
                "street"
              ],
              "additionalProperties": false
            },
            "work": {
              "$ref": "#/$defs/Address"
            },
            "nickname": {
              "type": [
                "string",
                "null"
              ]
            },
            "holiday": {
              "anyOf": [
                {
                  "$ref": "#/$defs/Address"
                },
                {
                  "type": "null"
                }
              ],
              "description": "Another place."
            },
            "tags": {
              "type": "array",
              "items": {
                "type": "string"
              }
            }
          },
          "required": [
            "name",
            "home",
            "work",
            "nickname",
            "holiday",
            "tags"
          ],
          "description": "A person.",
          "additionalProperties": false,
          "$defs": {
            "Address": {
              "type": "object",
              "properties": {
                "street": {
                  "type": "string"
                }
              },
              "required": [
                "street"
              ],
              "description": "A place.",
              "additionalProperties": false
            }
          }
        }"##]],
    );
}

#[test]
fn nested_structs_and_options_in_anthropic() {
    check::<Person>(
        Dialect::Anthropic,
        expect![[r##"
        {
          "type": "object",
          "properties": {
            "name": {
              "type": "string",
              "description": "What they are called."
            },
            "home": {
              "description": "Where they live.\nA place.",
              "type": "object",
              "properties": {
                "street": {
                  "type": "string"
                }
              },
              "required": [
                "street"
              ],
              "additionalProperties": false
            },
            "work": {
              "$ref": "#/$defs/Address"
            },
            "nickname": {
              "type": "string"
            },
            "holiday": {
              "description": "Another place.\nA place.",
              "type": "object",
              "properties": {
                "street": {
                  "type": "string"
                }
              },
              "required": [
                "street"
              ],
              "additionalProperties": false
            },
            "tags": {
              "type": "array",
              "items": {
                "type": "string"
              }
            }
          },
          "required": [
            "name",
            "home",
            "work"
          ],
          "description": "A person.",
          "additionalProperties": false,
          "$defs": {
            "Address": {
              "type": "object",
              "properties": {
                "street": {
                  "type": "string"
                }
              },
              "required": [
                "street"
              ],
              "description": "A place.",
              "additionalProperties": false
            }
          }
        }"##]],
    );
}

#[test]
fn nested_structs_and_options_in_gemini() {
    check::<Person>(
        Dialect::Gemini,
        expect![[r##"
        {
          "type": "object",
          "properties": {
            "name": {
              "type": "string",
              "description": "What they are called."
            },
            "home": {
              "description": "Where they live.\nA place.",
              "type": "object",
              "properties": {
                "street": {
                  "type": "string"
                }
              },
              "required": [
                "street"
              ],
              "additionalProperties": false
            },
            "work": {
              "$ref": "#/$defs/Address"
            },
            "nickname": {
              "type": "string"
            },
            "holiday": {
              "description": "Another place.\nA place.",
              "type": "object",
              "properties": {
                "street": {
                  "type": "string"
                }
              },
              "required": [
                "street"
              ],
              "additionalProperties": false
            },
            "tags": {
              "type": "array",
              "items": {
                "type": "string"
              }
            }
          },
          "required": [
            "name",
            "home",
            "work"
          ],
          "description": "A person.",
          "additionalProperties": false,
          "propertyOrdering": [
            "name",
            "home",
            "work",
            "nickname",
            "holiday",
            "tags"
          ],
          "$defs": {
            "Address": {
              "type": "object",
              "properties": {
                "street": {
                  "type": "string"
                }
              },
              "required": [
                "street"
              ],
              "description": "A place.",
              "additionalProperties": false
            }
          }
        }"##]],
    );
}

#[test]
fn nested_structs_and_options_in_json_schema() {
    check::<Person>(
        Dialect::JsonSchema,
        expect![[r##"
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "type": "object",
          "properties": {
            "name": {
              "type": "string",
              "description": "What they are called."
            },
            "home": {
              "$ref": "#/$defs/Address",
              "description": "Where they live."
            },
            "work": {
              "$ref": "#/$defs/Address"
            },
            "nickname": {
              "type": [
                "string",
                "null"
              ]
            },
            "holiday": {
              "anyOf": [
                {
                  "$ref": "#/$defs/Address"
                },
                {
                  "type": "null"
                }
              ],
              "description": "Another place."
            },
            "tags": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "default": []
            }
          },
          "required": [
            "name",
            "home",
            "work"
          ],
          "description": "A person.",
          "additionalProperties": false,
          "$defs": {
            "Address": {
              "type": "object",
              "properties": {
                "street": {
                  "type": "string"
                }
              },
              "required": [
                "street"
              ],
              "description": "A place.",
              "additionalProperties": false
            }
          }
        }"##]],
    );
}

/// How urgent it is.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Urgency {
    /// It can wait.
    Low,
    High,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Plain {
    One,
    Two,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Enumerations {
    urgency: Urgency,
    /// Perhaps urgent.
    perhaps: Option<Urgency>,
    plain: Plain,
}

#[test]
fn enums_of_unit_variants_in_openai() {
    check::<Enumerations>(
        Dialect::OpenAiStrict,
        expect![[r##"
        {
          "type": "object",
          "properties": {
            "urgency": {
              "$ref": "#/$defs/Urgency"
            },
            "perhaps": {
              "anyOf": [
                {
                  "$ref": "#/$defs/Urgency"
                },
                {
                  "type": "null"
                }
              ],
              "description": "Perhaps urgent."
            },
            "plain": {
              "$ref": "#/$defs/Plain"
            }
          },
          "required": [
            "urgency",
            "perhaps",
            "plain"
          ],
          "additionalProperties": false,
          "$defs": {
            "Urgency": {
              "description": "How urgent it is.\nLOW: It can wait.",
              "type": "string",
              "enum": [
                "HIGH",
                "LOW"
              ]
            },
            "Plain": {
              "type": "string",
              "enum": [
                "One",
                "Two"
              ]
            }
          }
        }"##]],
    );
}

#[test]
fn enums_of_unit_variants_in_anthropic() {
    check::<Enumerations>(
        Dialect::Anthropic,
        expect![[r##"
        {
          "type": "object",
          "properties": {
            "urgency": {
              "$ref": "#/$defs/Urgency"
            },
            "perhaps": {
              "description": "Perhaps urgent.\nHow urgent it is.\nLOW: It can wait.",
              "type": "string",
              "enum": [
                "HIGH",
                "LOW"
              ]
            },
            "plain": {
              "$ref": "#/$defs/Plain"
            }
          },
          "required": [
            "urgency",
            "plain"
          ],
          "additionalProperties": false,
          "$defs": {
            "Urgency": {
              "description": "How urgent it is.\nLOW: It can wait.",
              "type": "string",
              "enum": [
                "HIGH",
                "LOW"
              ]
            },
            "Plain": {
              "type": "string",
              "enum": [
                "One",
                "Two"
              ]
            }
          }
        }"##]],
    );
}

#[test]
fn enums_of_unit_variants_in_gemini() {
    check::<Enumerations>(
        Dialect::Gemini,
        expect![[r##"
        {
          "type": "object",
          "properties": {
            "urgency": {
              "$ref": "#/$defs/Urgency"
            },
            "perhaps": {
              "description": "Perhaps urgent.\nHow urgent it is.\nLOW: It can wait.",
              "type": "string",
              "enum": [
                "HIGH",
                "LOW"
              ]
            },
            "plain": {
              "$ref": "#/$defs/Plain"
            }
          },
          "required": [
            "urgency",
            "plain"
          ],
          "additionalProperties": false,
          "propertyOrdering": [
            "urgency",
            "perhaps",
            "plain"
          ],
          "$defs": {
            "Urgency": {
              "description": "How urgent it is.\nLOW: It can wait.",
              "type": "string",
              "enum": [
                "HIGH",
                "LOW"
              ]
            },
            "Plain": {
              "type": "string",
              "enum": [
                "One",
                "Two"
              ]
            }
          }
        }"##]],
    );
}

/// What to do.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Tagged {
    /// Go somewhere.
    Go {
        place: String,
    },
    Ask(Question),
    Stop,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Question {
    text: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum External {
    Named(String),
    Struct { size: u32 },
    Unit,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Unions {
    action: Tagged,
    external: External,
}

#[test]
fn enums_with_data_in_openai() {
    check::<Unions>(
        Dialect::OpenAiStrict,
        expect![[r##"
        {
          "type": "object",
          "properties": {
            "action": {
              "$ref": "#/$defs/Tagged"
            },
            "external": {
              "$ref": "#/$defs/External"
            }
          },
          "required": [
            "action",
            "external"
          ],
          "additionalProperties": false,
          "$defs": {
            "Tagged": {
              "description": "What to do.",
              "anyOf": [
                {
                  "type": "object",
                  "properties": {
                    "kind": {
                      "type": "string",
                      "const": "go"
                    },
                    "place": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "kind",
                    "place"
                  ],
                  "description": "Go somewhere.",
                  "additionalProperties": false
                },
                {
                  "type": "object",
                  "properties": {
                    "kind": {
                      "type": "string",
                      "const": "ask"
                    },
                    "text": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "kind",
                    "text"
                  ],
                  "additionalProperties": false
                },
                {
                  "type": "object",
                  "properties": {
                    "kind": {
                      "type": "string",
                      "const": "stop"
                    }
                  },
                  "required": [
                    "kind"
                  ],
                  "additionalProperties": false
                }
              ]
            },
            "External": {
              "anyOf": [
                {
                  "type": "string",
                  "enum": [
                    "Unit"
                  ]
                },
                {
                  "type": "object",
                  "properties": {
                    "Named": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "Named"
                  ],
                  "additionalProperties": false
                },
                {
                  "type": "object",
                  "properties": {
                    "Struct": {
                      "type": "object",
                      "properties": {
                        "size": {
                          "type": "integer"
                        }
                      },
                      "required": [
                        "size"
                      ],
                      "additionalProperties": false
                    }
                  },
                  "required": [
                    "Struct"
                  ],
                  "additionalProperties": false
                }
              ]
            }
          }
        }"##]],
    );
}

#[test]
fn enums_with_data_in_gemini() {
    check::<Unions>(
        Dialect::Gemini,
        expect![[r##"
        {
          "type": "object",
          "properties": {
            "action": {
              "$ref": "#/$defs/Tagged"
            },
            "external": {
              "$ref": "#/$defs/External"
            }
          },
          "required": [
            "action",
            "external"
          ],
          "additionalProperties": false,
          "propertyOrdering": [
            "action",
            "external"
          ],
          "$defs": {
            "Tagged": {
              "anyOf": [
                {
                  "description": "What to do.\nGo somewhere.",
                  "type": "object",
                  "properties": {
                    "kind": {
                      "type": "string",
                      "enum": [
                        "go"
                      ]
                    },
                    "place": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "kind",
                    "place"
                  ],
                  "additionalProperties": false,
                  "propertyOrdering": [
                    "kind",
                    "place"
                  ]
                },
                {
                  "type": "object",
                  "properties": {
                    "kind": {
                      "type": "string",
                      "enum": [
                        "ask"
                      ]
                    },
                    "text": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "kind",
                    "text"
                  ],
                  "additionalProperties": false,
                  "propertyOrdering": [
                    "kind",
                    "text"
                  ]
                },
                {
                  "type": "object",
                  "properties": {
                    "kind": {
                      "type": "string",
                      "enum": [
                        "stop"
                      ]
                    }
                  },
                  "required": [
                    "kind"
                  ],
                  "additionalProperties": false
                }
              ]
            },
            "External": {
              "anyOf": [
                {
                  "type": "string",
                  "enum": [
                    "Unit"
                  ]
                },
                {
                  "type": "object",
                  "properties": {
                    "Named": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "Named"
                  ],
                  "additionalProperties": false
                },
                {
                  "type": "object",
                  "properties": {
                    "Struct": {
                      "type": "object",
                      "properties": {
                        "size": {
                          "type": "integer"
                        }
                      },
                      "required": [
                        "size"
                      ],
                      "additionalProperties": false
                    }
                  },
                  "required": [
                    "Struct"
                  ],
                  "additionalProperties": false
                }
              ]
            }
          }
        }"##]],
    );
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Numbers {
    small: u8,
    large: i64,
    real: f64,
    #[schemars(range(min = 1, max = 10))]
    bounded: u8,
    #[schemars(length(min = 2, max = 5))]
    short: String,
    #[schemars(length(min = 2))]
    several: Vec<String>,
    #[schemars(email)]
    address: String,
    pair: (String, u8),
}

#[test]
fn numbers_and_bounds_in_openai() {
    check::<Numbers>(
        Dialect::OpenAiStrict,
        expect![[r#"
        {
          "type": "object",
          "properties": {
            "small": {
              "type": "integer"
            },
            "large": {
              "type": "integer"
            },
            "real": {
              "type": "number"
            },
            "bounded": {
              "type": "integer",
              "minimum": 1,
              "maximum": 10
            },
            "short": {
              "description": "Constraints: minLength 2, maxLength 5",
              "type": "string"
            },
            "several": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "minItems": 2
            },
            "address": {
              "type": "string",
              "format": "email"
            },
            "pair": {
              "type": "array",
              "minItems": 2,
              "maxItems": 2,
              "items": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "integer"
                  }
                ]
              }
            }
          },
          "required": [
            "small",
            "large",
            "real",
            "bounded",
            "short",
            "several",
            "address",
            "pair"
          ],
          "additionalProperties": false
        }"#]],
    );
}

#[test]
fn numbers_and_bounds_in_anthropic() {
    check::<Numbers>(
        Dialect::Anthropic,
        expect![[r#"
        {
          "type": "object",
          "properties": {
            "small": {
              "type": "integer"
            },
            "large": {
              "type": "integer"
            },
            "real": {
              "type": "number"
            },
            "bounded": {
              "description": "Constraints: minimum 1, maximum 10",
              "type": "integer"
            },
            "short": {
              "description": "Constraints: minLength 2, maxLength 5",
              "type": "string"
            },
            "several": {
              "description": "Constraints: minItems 2",
              "type": "array",
              "items": {
                "type": "string"
              }
            },
            "address": {
              "type": "string",
              "format": "email"
            },
            "pair": {
              "description": "Constraints: minItems 2, maxItems 2",
              "type": "array",
              "items": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "integer"
                  }
                ]
              }
            }
          },
          "required": [
            "small",
            "large",
            "real",
            "bounded",
            "short",
            "several",
            "address",
            "pair"
          ],
          "additionalProperties": false
        }"#]],
    );
}

#[test]
fn numbers_and_bounds_in_gemini() {
    check::<Numbers>(
        Dialect::Gemini,
        expect![[r#"
        {
          "type": "object",
          "properties": {
            "small": {
              "type": "integer"
            },
            "large": {
              "type": "integer"
            },
            "real": {
              "type": "number"
            },
            "bounded": {
              "type": "integer",
              "minimum": 1,
              "maximum": 10
            },
            "short": {
              "description": "Constraints: minLength 2, maxLength 5",
              "type": "string"
            },
            "several": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "minItems": 2
            },
            "address": {
              "description": "Constraints: format \"email\"",
              "type": "string"
            },
            "pair": {
              "type": "array",
              "prefixItems": [
                {
                  "type": "string"
                },
                {
                  "type": "integer"
                }
              ],
              "minItems": 2,
              "maxItems": 2
            }
          },
          "required": [
            "small",
            "large",
            "real",
            "bounded",
            "short",
            "several",
            "address",
            "pair"
          ],
          "additionalProperties": false,
          "propertyOrdering": [
            "small",
            "large",
            "real",
            "bounded",
            "short",
            "several",
            "address",
            "pair"
          ]
        }"#]],
    );
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Maps {
    by_name: BTreeMap<String, u8>,
    by_number: BTreeMap<u32, String>,
    anything: serde_json::Value,
}

#[test]
fn maps_break_the_limits_of_openai() {
    check::<Maps>(
        Dialect::OpenAiStrict,
        expect![[r#"
        {
          "type": "object",
          "properties": {
            "by_name": {
              "type": "object",
              "additionalProperties": {
                "type": "integer"
              }
            },
            "by_number": {
              "type": "object",
              "additionalProperties": {
                "type": "string"
              }
            },
            "anything": {}
          },
          "required": [
            "by_name",
            "by_number",
            "anything"
          ],
          "additionalProperties": false
        }
        ! openai: objects that take any property: 1 at #/properties/by_name, at most 0
        ! openai: objects that take any property: 1 at #/properties/by_number, at most 0
        ! openai: schemas without a type: 1 at #/properties/anything, at most 0"#]],
    );
}

#[test]
fn maps_stand_in_gemini() {
    check::<Maps>(
        Dialect::Gemini,
        expect![[r#"
        {
          "type": "object",
          "properties": {
            "by_name": {
              "type": "object",
              "additionalProperties": {
                "type": "integer"
              }
            },
            "by_number": {
              "type": "object",
              "additionalProperties": {
                "type": "string"
              }
            },
            "anything": {}
          },
          "required": [
            "by_name",
            "by_number",
            "anything"
          ],
          "additionalProperties": false,
          "propertyOrdering": [
            "by_name",
            "by_number",
            "anything"
          ]
        }"#]],
    );
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Tree {
    /// What is below.
    children: Vec<Tree>,
    next: Option<Box<Tree>>,
}

#[test]
fn recursion_breaks_a_limit_of_anthropic() {
    check::<Tree>(
        Dialect::Anthropic,
        expect![[r##"
        {
          "type": "object",
          "properties": {
            "children": {
              "type": "array",
              "items": {
                "$ref": "#/$defs/Tree"
              },
              "description": "What is below."
            },
            "next": {
              "$ref": "#/$defs/Tree"
            }
          },
          "required": [
            "children"
          ],
          "additionalProperties": false,
          "$defs": {
            "Tree": {
              "type": "object",
              "properties": {
                "children": {
                  "type": "array",
                  "items": {
                    "$ref": "#/$defs/Tree"
                  },
                  "description": "What is below."
                },
                "next": {
                  "$ref": "#/$defs/Tree"
                }
              },
              "required": [
                "children"
              ],
              "additionalProperties": false
            }
          }
        }
        ! anthropic: recursions: 1 at #/$defs/Tree, at most 0"##]],
    );
}

#[test]
fn recursion_stands_in_openai() {
    check::<Tree>(
        Dialect::OpenAiStrict,
        expect![[r##"
        {
          "type": "object",
          "properties": {
            "children": {
              "type": "array",
              "items": {
                "$ref": "#/$defs/Tree"
              },
              "description": "What is below."
            },
            "next": {
              "anyOf": [
                {
                  "$ref": "#/$defs/Tree"
                },
                {
                  "type": "null"
                }
              ]
            }
          },
          "required": [
            "children",
            "next"
          ],
          "additionalProperties": false,
          "$defs": {
            "Tree": {
              "type": "object",
              "properties": {
                "children": {
                  "type": "array",
                  "items": {
                    "$ref": "#/$defs/Tree"
                  },
                  "description": "What is below."
                },
                "next": {
                  "anyOf": [
                    {
                      "$ref": "#/$defs/Tree"
                    },
                    {
                      "type": "null"
                    }
                  ]
                }
              },
              "required": [
                "children",
                "next"
              ],
              "additionalProperties": false
            }
          }
        }"##]],
    );
}

#[test]
fn a_required_recursion_breaks_a_limit_of_gemini() {
    check::<Tree>(
        Dialect::Gemini,
        expect![[r##"
        {
          "type": "object",
          "properties": {
            "children": {
              "type": "array",
              "items": {
                "$ref": "#/$defs/Tree"
              },
              "description": "What is below."
            },
            "next": {
              "$ref": "#/$defs/Tree"
            }
          },
          "required": [
            "children"
          ],
          "additionalProperties": false,
          "propertyOrdering": [
            "children",
            "next"
          ],
          "$defs": {
            "Tree": {
              "type": "object",
              "properties": {
                "children": {
                  "type": "array",
                  "items": {
                    "$ref": "#/$defs/Tree"
                  },
                  "description": "What is below."
                },
                "next": {
                  "$ref": "#/$defs/Tree"
                }
              },
              "required": [
                "children"
              ],
              "additionalProperties": false,
              "propertyOrdering": [
                "children",
                "next"
              ]
            }
          }
        }
        ! gemini: recursions: 1 at #/$defs/Tree, at most 0"##]],
    );
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Flattened {
    own: String,
    #[serde(flatten)]
    address: Address,
    #[serde(flatten)]
    tagged: Tagged,
}

#[test]
fn flattened_parts_are_merged() {
    check::<Flattened>(
        Dialect::JsonSchema,
        expect![[r#"
            {
              "$schema": "https://json-schema.org/draft/2020-12/schema",
              "description": "A place.",
              "oneOf": [
                {
                  "type": "object",
                  "properties": {
                    "own": {
                      "type": "string"
                    },
                    "street": {
                      "type": "string"
                    },
                    "kind": {
                      "type": "string",
                      "const": "go"
                    },
                    "place": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "own",
                    "street",
                    "kind",
                    "place"
                  ],
                  "description": "Go somewhere.",
                  "additionalProperties": false
                },
                {
                  "type": "object",
                  "properties": {
                    "own": {
                      "type": "string"
                    },
                    "street": {
                      "type": "string"
                    },
                    "kind": {
                      "type": "string",
                      "const": "ask"
                    },
                    "text": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "own",
                    "street",
                    "kind",
                    "text"
                  ],
                  "additionalProperties": false
                },
                {
                  "type": "object",
                  "properties": {
                    "own": {
                      "type": "string"
                    },
                    "street": {
                      "type": "string"
                    },
                    "kind": {
                      "type": "string",
                      "const": "stop"
                    }
                  },
                  "required": [
                    "own",
                    "street",
                    "kind"
                  ],
                  "additionalProperties": false
                }
              ]
            }"#]],
    );
}

#[test]
fn a_list_at_the_root_breaks_a_limit() {
    check::<Vec<String>>(
        Dialect::Anthropic,
        expect![[r#"
        {
          "type": "array",
          "items": {
            "type": "string"
          }
        }
        ! anthropic: roots that are no object: 1 at #, at most 0"#]],
    );
}
