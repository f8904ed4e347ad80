package javax.annotation;

/** Stands in for the annotation of the generated code, which is not part of the JDK. */
public @interface Generated {
    /** The name of the generator. */
    String[] value();

    /** The date. */
    String date() default "";

    /** A comment. */
    String comments() default "";
}
